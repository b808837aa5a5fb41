"""The exceptions of the client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx


class TrackerError(Exception):
    """A refusal of the service. `message` is for people and may change; `code` is stable."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        request_id: str | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        #: Names this request in the log of the service.
        self.request_id = request_id
        #: `fields` of a body, `param` of a query, or `field` in conflict.
        self.details: Mapping[str, Any] = details or {}
        #: Seconds to wait before the request is sent again, if the service said so.
        self.retry_after = retry_after


class AuthenticationError(TrackerError):
    """401: the key is missing or unknown."""


class ForbiddenError(TrackerError):
    """403: the key may not do this."""


class NotFoundError(TrackerError):
    """404: there is no such record for this key."""


class ConflictError(TrackerError):
    """409: the state of the records does not allow it."""


class InvalidRequestError(TrackerError):
    """400, 413 and 415: `details` says what is wrong."""


class RateLimitedError(TrackerError):
    """429, after the retries of a GET."""


class UnavailableError(TrackerError):
    """503, after the retries of a GET."""


_KINDS: Mapping[int, type[TrackerError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    429: RateLimitedError,
    503: UnavailableError,
}


def error_of(answer: httpx.Response) -> TrackerError:
    """The refusal in an answer. One that does not come from the service, such as a proxy's, has the code `unavailable`
    or `internal_error`.
    """
    error = _body(answer.text)
    status = answer.status_code
    return _KINDS.get(status, TrackerError)(
        status,
        str(error.get("code", "unavailable" if status == 503 else "internal_error")),
        str(error.get("message", f"HTTP {status} without an error of the service")),
        request_id=answer.headers.get("x-request-id"),
        details=error.get("details"),
        retry_after=_seconds(answer.headers.get("retry-after")),
    )


def _body(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except json.JSONDecodeError:
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None
