"""The addresses of the Django application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]
from ninja import NinjaAPI, Schema

if TYPE_CHECKING:
    from django.http import HttpRequest  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]

api = NinjaAPI()


class Found(Schema):
    name: str
    size: int


@api.get("/add")
def add(request: HttpRequest, a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}


@api.post("/find", response=Found)
def find(request: HttpRequest, wanted: Found) -> Found:
    return wanted


urlpatterns = [path("api/", api.urls)]
