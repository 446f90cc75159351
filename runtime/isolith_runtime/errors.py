"""Every error this package raises on purpose.

    IsolithRuntimeError
    ├── ProtocolError              a guest sent what no guest of ours sends; its run ends, nothing else is touched
    ├── HibernationError           a guest that was put away cannot be woken; its run can still be replayed
    └── ImageError                 the guest image; nothing has run
        ├── DistributionError      Pyodide could not be obtained
        │   └── DigestError        a file is not the one this version was written for
        ├── ImageBuildError        booting, importing, snapshotting or compiling failed
        ├── UnmeteredError         it does not stop where its fuel ends
        └── ImageStoreError        the folder that keeps images cannot be used
            └── UnsafeStoreError   somebody else could have written there

A message says what happened and what to do about it.
"""

from __future__ import annotations


class IsolithRuntimeError(Exception):
    """The base of all of them."""


class ProtocolError(IsolithRuntimeError):
    """A guest sent what no guest of ours sends. Its run ends; nothing else is touched."""


class HibernationError(IsolithRuntimeError):
    """A guest that was put away cannot be woken here: damaged, or of another image. Its run can still be replayed."""


class ImageError(IsolithRuntimeError):
    """The guest image cannot be made or used."""


class DistributionError(ImageError):
    """Pyodide could not be obtained."""


class DigestError(DistributionError):
    """A file's SHA-256 is not the one kept in `distribution.FILES`. Nothing of it was used."""


class ImageBuildError(ImageError):
    """Booting, importing, snapshotting or compiling failed. What was cached before stays usable."""


class UnmeteredError(ImageError):
    """A compiled image does not stop where its fuel ends. Nobody's script was run in it."""


class ImageStoreError(ImageError):
    """The folder that keeps images cannot be read, written or locked."""


class UnsafeStoreError(ImageStoreError):
    """A folder or file of the image store may have been written by another user: nothing in it is trusted."""
