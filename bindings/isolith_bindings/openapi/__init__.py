"""An OpenAPI document as a connector: each of its operations is a method, its parameters are keyword arguments."""

__all__: list[str] = []
