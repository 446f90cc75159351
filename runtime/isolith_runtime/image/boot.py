"""Starting CPython in a wasm instance through its own C API, as the build does twice."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import wasmtime

from isolith_runtime.errors import ImageBuildError
from isolith_runtime.image.emscripten import Kernel
from isolith_runtime.image.prepare import STATE_GLOBALS

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTIONS = {
    "site_import": 0,
    "install_signal_handlers": 0,
    "use_hash_seed": 1,
    "hash_seed": 0,
    "write_bytecode": 0,
    "utf8_mode": 1,
}


class BootedGuest:
    """A guest with the build's kernel under it. `search_path` is its `sys.path`."""

    def __init__(
        self,
        engine: wasmtime.Engine,
        module: wasmtime.Module,
        slot: int,
        files: Mapping[str, bytes],
        search_path: list[str],
    ) -> None:
        self.output = io.StringIO()
        self.kernel = Kernel(files, self.output)
        self.store = wasmtime.Store(engine)
        imports = [
            wasmtime.Func(self.store, item.type, self.kernel.implementation(item.name or ""))  # type: ignore[arg-type]
            for item in module.imports
        ]
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)
        memory = self.exports["memory"]
        assert isinstance(memory, wasmtime.Memory)  # noqa: S101
        self.memory = memory
        self.kernel.attach(self.store, memory)
        self.call("__wasm_call_ctors")
        self._install_trampoline(slot)
        self._initialise(search_path)

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported C function; 0 from one without a result."""
        function = self.exports[name]
        assert isinstance(function, wasmtime.Func)  # noqa: S101
        answer = function(self.store, *arguments)
        return answer if isinstance(answer, int) else 0

    def address(self, name: str) -> int:
        """The address of an exported C variable."""
        variable = self.exports[name]
        assert isinstance(variable, wasmtime.Global)  # noqa: S101
        return int(variable.value(self.store))

    def text(self, text: str) -> int:
        """A C string in the guest's memory; never freed, the build needs few."""
        data = text.encode() + b"\0"
        pointer = self.call("malloc", len(data))
        self.kernel.write(pointer, data)
        return pointer

    def run(self, source: str) -> None:
        """Run Python source in `__main__`. Raises ImageBuildError with the guest's traceback."""
        if self.call("PyRun_SimpleStringFlags", self.text(source), 0):
            raise ImageBuildError(f"the guest failed while being prepared:\n{self.output.getvalue()}")

    def attribute(self, module: str, name: str) -> int:
        """The address of a module's attribute; the reference is kept."""
        imported = self.call("PyImport_ImportModule", self.text(module))
        found = self.call("PyObject_GetAttrString", imported, self.text(name)) if imported else 0
        if not found:
            raise ImageBuildError(f"the guest has no {module}.{name}")
        return found

    def bound_c_stack(self, size: int) -> None:
        """Let CPython's own recursion check come when `size` bytes of its C stack are used.

        That stack is a part of the linear memory; the native stack of the engine holds several times as much for the
        same calls and must not end first, because its end is a trap and CPython's is an exception.
        """
        top = self.call("emscripten_stack_get_base")
        thread = self.call("PyThreadState_Get")
        if self.call("PyUnstable_ThreadState_SetStackProtection", thread, top - size, size):
            raise ImageBuildError("CPython refused the bound of its C stack")

    def contents(self) -> bytes:
        """The whole linear memory."""
        return self.kernel.read(0, self.memory.data_len(self.store))

    def state(self) -> list[int]:
        """The mutable globals, in the order of `STATE_GLOBALS`."""
        return [self.address(name) for name in STATE_GLOBALS]

    def _install_trampoline(self, slot: int) -> None:
        offset = struct.unpack("<I", self.kernel.read(self.address("_PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET"), 4))[0]
        self.kernel.write_u32(self.address("_PyRuntime") + offset, slot)

    def _initialise(self, search_path: list[str]) -> None:
        config = self.call("PyInitConfig_Create")
        self.call("PyInitConfig_SetStr", config, self.text("home"), self.text("/"))
        for option, value in _OPTIONS.items():
            self.call("PyInitConfig_SetInt", config, self.text(option), value)
        paths = self.call("malloc", 4 * len(search_path))
        for position, path in enumerate(search_path):
            self.kernel.write_u32(paths + 4 * position, self.text(path))
        self.call("PyInitConfig_SetStrList", config, self.text("module_search_paths"), len(search_path), paths)
        if self.call("Py_InitializeFromInitConfig", config):
            message = self.call("malloc", 4)
            self.call("PyInitConfig_GetError", config, message)
            reason = self.kernel.string(struct.unpack("<I", self.kernel.read(message, 4))[0])
            raise ImageBuildError(f"CPython did not start: {reason}")
