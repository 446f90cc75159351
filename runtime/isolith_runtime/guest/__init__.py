"""Python that runs inside the isolate; standard library only.

`codec` is also used by the host, so that the two sides of the border cannot drift apart.
"""
