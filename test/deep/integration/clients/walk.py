"""A program that uses the packed client. mypy --strict checks it too (api/docs/clients/check.sh)."""

import json
import sys
from collections.abc import Callable
from decimal import Decimal

from affiliate_tracker import (
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    Tracker,
    TrackerError,
)
from affiliate_tracker.models import Offer

base_url, limited_url, api_key, limited_key, advertiser, partner = sys.argv[1:]
tracker = Tracker(api_key, base_url)


def refusal_of(call: Callable[[], object]) -> TrackerError:
    try:
        call()
    except TrackerError as error:
        return error
    raise AssertionError("was not refused")


def create(name: str, payout: str | Decimal) -> Offer:
    answer = tracker.create_offer(
        name=name,
        advertiser_id=int(advertiser),
        destination_url="https://shop.example/",
        currency="USD",
        payout=payout,
        revenue="15.5",
    )
    return answer["data"]


created = [create("One", Decimal("10")), create("Two", "10"), create("Three", "10")]
first = created[0]
page = tracker.list_offers(limit=2, featured=False)
every = [offer["name"] for offer in tracker.iter_offers(limit=2, ids=[one["id"] for one in created])]

wrong = refusal_of(lambda: create("x", "-1"))
assert isinstance(wrong, InvalidRequestError)
absent = refusal_of(lambda: tracker.get_offer("NO-SUCH-OFFER"))

conversion = tracker.create_conversion(
    offer_id=first["id"],
    affiliate_id=partner,
    status="approved",
    sale_amount=Decimal("49.90"),
    adv_txid="order-1",
)
changed = tracker.update_conversion(conversion["data"]["id"], status="rejected", reason="returned")
conversions = [one["status"] for one in tracker.iter_conversions(preset="today", limit=1)]

report = tracker.get_report(preset="last7", group_by=["offer"], metrics=["clicks", "payout"], sort="-payout")
csv = tracker.get_report_csv(from_="2026-01-01", group_by=["offer"], metrics=["clicks", "payout"], totals="0")
costs = tracker.set_ad_costs_csv(
    f"date,offer_id,traffic_source,currency,amount\n2026-11-20,{first['code']},google,USD,25.40\n"
)
imported = tracker.create_import(
    b'[{"name":"P One Two"}]', kind="affiliates", name="partners.json", format="json", dry_run="1"
)


def exhaust() -> None:
    with Tracker(limited_key, limited_url, retries=0) as limited:
        while True:
            limited.get_me()


over_budget = refusal_of(exhaust)
assert isinstance(over_budget, RateLimitedError)
with Tracker(limited_key, limited_url) as patient:
    waited = patient.get_me()

print(
    json.dumps(
        {
            "payout": first["payout"],
            "page": len(page["data"]),
            "hasMore": page["next_cursor"] is not None,
            "all": every,
            "wrong": [wrong.status, wrong.code, list(wrong.details["fields"]), wrong.request_id is not None],
            "absent": [absent.code, isinstance(absent, NotFoundError)],
            "changed": [changed["data"]["status"], changed["data"]["status_reason"]],
            "conversions": conversions,
            "report": [report["group_by"], [column["key"] for column in report["columns"]]],
            "csv": csv.splitlines()[0],
            "costs": costs["data"]["inserted"],
            "imported": [imported["data"][key] for key in ("name", "format", "dry_run", "bytes")],
            "overBudget": [over_budget.status, over_budget.code, over_budget.retry_after is not None],
            "waited": waited["data"]["key"]["role"],
        }
    )
)
