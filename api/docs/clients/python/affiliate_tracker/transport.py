"""Sends requests with the key, waits and repeats where that is safe, and raises refusals."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from .errors import error_of

RETRIES = 3
TIMEOUT_SECONDS = 60.0
# The service never asks for more than a minute.
WAIT_SECONDS_MAX = 60.0
RETRYABLE = frozenset({429, 503})


def segment(value: int | str) -> str:
    """A value as part of a path."""
    return quote(str(value), safe="")


class Transport:
    """Base of the generated `Tracker`. Use it in a `with` statement or call `close`."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        retries: int = RETRIES,
        timeout: float = TIMEOUT_SECONDS,
        http: httpx.Client | None = None,
    ) -> None:
        """`base_url` ends with `/api/v1`. `retries`: how often a GET is sent again after 429 or 503; nothing else is
        ever sent twice. `http` replaces the HTTP client, for example to set a proxy.
        """
        self._base_url = base_url.rstrip("/")
        self._retries = retries
        self._timeout = timeout
        self._http = http if http is not None else httpx.Client()
        self._headers = {"Authorization": f"Bearer {api_key}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Any:
        """The JSON answer of any operation."""
        content = None if body is None else json.dumps(dict(body), default=_json_value)
        return json.loads(self._send(method, path, query, content))

    def rows(self, path: str, query: Mapping[str, object]) -> Iterator[Any]:
        """Every record of a list. Pages are read as they are needed."""
        given = dict(query)
        while True:
            page = self.call("GET", path, query=given)
            yield from page["data"]
            if page["next_cursor"] is None:
                return
            given["cursor"] = page["next_cursor"]

    def read_csv(self, path: str, query: Mapping[str, object]) -> str:
        return self._send("GET", path, {**query, "format": "csv"})

    def send_csv(self, method: str, path: str, csv: str) -> Any:
        return json.loads(self._send(method, path, None, csv, content_type="text/csv"))

    def send_file(self, method: str, path: str, file: bytes, query: Mapping[str, object]) -> Any:
        return json.loads(self._send(method, path, query, file, content_type="application/octet-stream"))

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None,
        content: str | bytes | None = None,
        content_type: str = "application/json",
    ) -> str:
        headers = self._headers if content is None else {**self._headers, "Content-Type": content_type}
        retries = self._retries if method == "GET" else 0
        for attempt in range(retries + 1):
            answer = self._http.request(
                method,
                f"{self._base_url}{path}",
                params=_params(query or {}),
                content=content,
                headers=headers,
                timeout=self._timeout,
            )
            if answer.is_success:
                return answer.text
            error = error_of(answer)
            if attempt == retries or answer.status_code not in RETRYABLE:
                raise error
            seconds = 2.0**attempt if error.retry_after is None else error.retry_after
            time.sleep(min(seconds, WAIT_SECONDS_MAX))
        raise AssertionError("the last attempt returns or raises")


def _params(query: Mapping[str, object]) -> dict[str, str]:
    # `from` is a word of Python, so the method calls it `from_`.
    return {name.rstrip("_"): _text(value) for name, value in query.items() if value is not None}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(one) for one in value)
    return str(value)


def _json_value(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")
