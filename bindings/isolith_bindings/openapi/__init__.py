"""An OpenAPI document as a connector: each of its operations is a method, its parameters are keyword arguments."""

from isolith_bindings.openapi.connector import OpenApi
from isolith_bindings.openapi.credentials import ApiKey, Basic, ClientCertificate, Credential, OAuthClient
from isolith_bindings.openapi.tree import DocumentError

__all__ = ["ApiKey", "Basic", "ClientCertificate", "Credential", "DocumentError", "OAuthClient", "OpenApi"]
