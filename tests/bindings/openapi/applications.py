"""Two small applications, one of FastAPI and one of Django."""

# Annotations are read at run time here.
import datetime as dt
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated, cast

Asgi = Callable[..., Awaitable[None]]


def fastapi_app() -> Asgi:
    from fastapi import FastAPI, HTTPException, Query, Response, UploadFile
    from pydantic import BaseModel

    app = FastAPI()

    class Item(BaseModel):
        name: str
        price: float = 1
        due: dt.date | None = None

    @app.get("/items", tags=["items"])
    async def list_items(tag: Annotated[list[str] | None, Query()] = None, limit: int = 10) -> dict[str, object]:
        return {"tag": tag, "limit": limit}

    @app.get("/items/{item_id}", tags=["items"])
    async def read_item(item_id: int) -> dict[str, object]:
        raise HTTPException(404, f"there is no item {item_id}")

    @app.post("/items", tags=["items"])
    async def create_item(item: Item) -> Item:
        return item

    @app.post("/upload")
    async def upload(file: UploadFile, note: str) -> dict[str, object]:
        return {"size": len(await file.read()), "note": note, "name": file.filename}

    @app.get("/picture", response_class=Response, responses={200: {"content": {"image/png": {}}}})
    async def picture() -> Response:
        return Response(b"\x89PNG", media_type="image/png")

    return app


@cache
def django_app() -> Asgi:
    """Once for a process: Django has one configuration."""
    import django  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]
    from django.conf import settings  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]
    from django.core.asgi import get_asgi_application  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]

    settings.configure(
        ROOT_URLCONF="tests.bindings.openapi.django_urls",
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="of the tests",  # noqa: S106
    )
    django.setup()
    return cast("Asgi", get_asgi_application())


def receiving_app(document: dict[str, object]) -> Asgi:
    """A Starlette application that serves the document, and answers a form with what python-multipart made of it.

    A part is its name, its file name, its media type, its other headers and its content.
    """
    from starlette.applications import Starlette
    from starlette.datastructures import UploadFile
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def describe(_request: Request) -> JSONResponse:
        return JSONResponse(document)

    async def receive(request: Request) -> JSONResponse:
        parts: list[list[object]] = []
        async with request.form() as form:
            for name, part in form.multi_items():
                if isinstance(part, UploadFile):
                    others = {key: value for key, value in part.headers.items() if not key.startswith("content-")}
                    content = (await part.read()).decode("latin-1")
                    parts.append([name, part.filename, part.content_type, others, content])
                else:
                    parts.append([name, None, None, {}, part])
        return JSONResponse(parts)

    return Starlette(routes=[Route("/openapi.json", describe), Route("/upload", receive, methods=["POST"])])
