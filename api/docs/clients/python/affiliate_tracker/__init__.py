"""Client of the affiliate tracker's REST API, generated from its OpenAPI document."""

from . import models
from .errors import (
    AuthenticationError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    TrackerError,
    UnavailableError,
)
from .tracker import Tracker

__all__ = [
    "AuthenticationError",
    "ConflictError",
    "ForbiddenError",
    "InvalidRequestError",
    "NotFoundError",
    "RateLimitedError",
    "Tracker",
    "TrackerError",
    "UnavailableError",
    "models",
]
