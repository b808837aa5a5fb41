import { z } from "zod";
import { allShards } from "../clickhouse/all-shards.ts";
import { selectRows } from "../clickhouse/select.ts";
import { readSecret } from "../installation/read-secret.ts";
import type { Queryable } from "../postgres/connect.ts";
import { DAY_MS } from "../time/zone.ts";
import { type AddressForms, addressForms } from "./address-forms.ts";
import { type Erased, eraseAddress, erasePerson, type Stores } from "./erase.ts";
import { erasureKey, keyedHash, sha256 } from "./keyed-hash.ts";

/** The person to erase. */
export type Subject =
  | { readonly kind: "click"; readonly clickId: string }
  | { readonly kind: "email"; readonly email: string }
  | { readonly kind: "ip"; readonly forms: AddressForms };

/** A stored erasure. It contains only keyed hashes of an e-mail or address, never the value. */
type Kept = {
  readonly id: number;
  readonly workspace_id: number;
  readonly kind: Subject["kind"];
  readonly subject: readonly string[];
  readonly at: string;
  readonly clicks: readonly string[];
};

/** What is stored after an erasure may be this much older than it: the stream keeps clicks for 72 h; add a day. */
const LATE_MS = 4 * DAY_MS;
const MINUTE = 60;
/**
 * Seconds between repeats. By the first repeat, everything in progress during the erasure is stored: an insert of clicks takes at most
 * 10 s, a Postgres statement 12 s. The second comes after the lease of a delivery (30 s). The others are for older clicks and reports that
 * arrive late. The last one comes after the longest usual window of uniqueness.
 */
const REPEATS_S = [
  15,
  45,
  ...[9, 60, 300, 1_440, 2 * 1_440, 5 * 1_440, 27 * 1_440].map((minutes) => minutes * MINUTE),
];

/** Stores the erasure, then clears. If the process dies in between, {@link repeatDueErasure} does the rest. */
export async function erase(
  stores: Stores,
  { workspaceId, subject }: { readonly workspaceId: number; readonly subject: Subject },
): Promise<Erased> {
  const { db } = stores;
  const key = erasureKey(await readSecret(db));
  const { rows } = await db.query<Kept>({
    name: "keep-erasure",
    text: `insert into erasure (workspace_id, kind, subject, repeat_at)
           values ($1, $2, $3::text[], clock_timestamp() + $4::integer * interval '1 second')
           returning id, workspace_id, kind, subject, at, '{}'::text[] as clicks`,
    values: [workspaceId, subject.kind, subjectTexts(subject, key), REPEATS_S[0]],
  });
  const [kept] = rows;
  if (kept === undefined) throw new Error("an erasure was not kept");
  if (subject.kind === "ip") {
    const { forms } = subject;
    return await eraseAddress(stores, { workspaceId, forms, untilMs: Date.parse(kept.at) });
  }
  return await eraseKeptPerson(stores, kept, key);
}

/**
 * Repeats the erasure that has been due for longest, for rows that were stored after it. Returns false if none is due. Safe to run twice
 * and in two processes.
 */
export async function repeatDueErasure(stores: Stores): Promise<boolean> {
  const { db } = stores;
  const { rows } = await db.query<Kept & { repeats: number }>({
    name: "due-erasure",
    text: `select e.id, e.workspace_id, e.kind, e.subject, e.at, e.repeats,
             array(select c.click_id from erased_click c where c.erasure_id = e.id) as clicks
           from erasure e where e.repeat_at <= clock_timestamp() order by e.repeat_at limit 1`,
  });
  const [due] = rows;
  if (due === undefined) return false;
  // If this repeat fails or its process dies, others go first, and it is due again in a minute.
  await db.query({
    name: "begin-repeat-of-erasure",
    text: `update erasure set repeat_at = clock_timestamp() + interval '1 minute' where id = $1 and repeats = $2`,
    values: [due.id, due.repeats],
  });
  const key = erasureKey(await readSecret(db));
  // The first repeat searches everything, because it is also the first after a restore, or after a process died in the erasure.
  const fromMs = due.repeats === 0 ? 0 : Date.parse(due.at) - LATE_MS;
  if (due.kind === "ip") await eraseAgain(stores, due, { key, fromMs });
  else await eraseKeptPerson(stores, due, key, await visitorsBefore(db));
  await db.query({
    name: "finish-repeat-of-erasure",
    text: `update erasure set repeats = $2, repeat_at = clock_timestamp() + $3::integer * interval '1 second'
           where id = $1 and repeats = $2 - 1`,
    values: [due.id, due.repeats + 1, REPEATS_S[due.repeats + 1] ?? null],
  });
  return true;
}

/** Makes every erasure due again at once, after a store was restored from a backup that is older. Returns their number. */
export async function repeatAllErasures(db: Queryable): Promise<number> {
  const { rowCount } = await db.query({
    name: "repeat-all-erasures",
    // The column rounds to milliseconds: without the cut an erasure could be due half a millisecond later.
    text: "update erasure set repeat_at = date_trunc('milliseconds', clock_timestamp()), repeats = 0",
  });
  return rowCount ?? 0;
}

async function eraseKeptPerson(
  stores: Stores,
  kept: Kept,
  key: string,
  visitorsBeforeMs?: number,
): Promise<Erased> {
  const [subject = ""] = kept.subject;
  return await erasePerson(stores, {
    workspaceId: kept.workspace_id,
    clickIds: kept.kind === "click" ? [subject] : kept.clicks,
    email: kept.kind === "email" ? { key, hash: subject } : undefined,
    untilMs: Date.parse(kept.at),
    visitorsBeforeMs,
    keep: async (clickIds) => {
      await stores.db.query({
        name: "keep-erased-clicks",
        text: `insert into erased_click (erasure_id, click_id)
               select $1, click_id from unnest($2::text[]) click_id on conflict do nothing`,
        values: [kept.id, clickIds],
      });
    },
  });
}

const Found = z.object({ ip: z.string() });

/** Finds the address by its hash in rows from `fromMs` on, then clears it. */
async function eraseAgain(
  stores: Stores,
  kept: Kept,
  { key, fromMs }: { readonly key: string; readonly fromMs: number },
): Promise<void> {
  const untilMs = Date.parse(kept.at);
  const clicks = await selectRows(
    stores.clickhouse,
    {
      name: "erasure.find-address",
      text: `select ip from (
          select distinct ip from ${allShards(stores.clickhouse, "click")}
          where workspace_id = {workspaceId:UInt32} and ip != ''
            and ts between fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC') and fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC'))
        where lower(hex(SHA256(concat({key:String}, ' ', ip)))) in {hashes:Array(String)}`,
      params: { workspaceId: kept.workspace_id, fromMs, untilMs, key, hashes: kept.subject },
    },
    Found,
  );
  const { rows } = await stores.db.query<{ ip: string }>({
    name: "find-erased-address",
    text: `select ip from (
             select host(c.conv_ip) as ip from conversion c
             where c.workspace_id = $1 and c.conv_ts between $2 and $3 and c.conv_ip is not null
             union
             select host(l.ip) from postback_log l
             where l.workspace_id = $1 and l.ts between $2 and $3 and l.ip is not null) found
           where keyed_hash($4, ip) = any($5::text[])`,
    values: [kept.workspace_id, new Date(fromMs).toISOString(), kept.at, key, kept.subject],
  });
  for (const { ip } of [...clicks, ...rows]) {
    const forms = addressForms(ip);
    if (forms !== undefined)
      await eraseAddress(stores, { workspaceId: kept.workspace_id, forms, untilMs });
  }
}

function subjectTexts(subject: Subject, key: string): string[] {
  switch (subject.kind) {
    case "click":
      return [subject.clickId];
    case "email":
      return [keyedHash(key, sha256(subject.email.trim().toLowerCase()))];
    case "ip":
      return [...subject.forms.whole, ...subject.forms.truncated].map((ip) => keyedHash(key, ip));
  }
}

/** Clicks before this time are no longer needed to decide whether a new one is unique or a duplicate. */
async function visitorsBefore(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ before: string }>({
    name: "end-of-unique-windows",
    text: `select clock_timestamp()
             - (coalesce(max(greatest(unique_click_hours, duplicate_click_seconds / 3600.0)), 0) + 24) * interval '1 hour' as before
           from offer`,
  });
  return Date.parse(rows[0]?.before ?? "") || 0;
}
