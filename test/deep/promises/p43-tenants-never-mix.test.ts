import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "../../../api/operation/operation.ts";
import { ROLES, type Role } from "../../../api/operation/permissions.ts";
import { insertMembership } from "../../../api/people/members.ts";
import {
  headersIn,
  type SessionHeaders,
  signInDirectly,
} from "../../promises/leaks/leak-people.ts";
import {
  type Account,
  fillPath,
  LeakWorld,
  ofRole,
  operationsOfAccounts,
  placesOf,
} from "../../promises/leaks/leak-world.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { SEED } from "../../system/seed.ts";

const WRITES = IS_FULL ? 400 : 40;
const IN_FLIGHT = 8;

let world: LeakWorld;
let own: Account;
/** An account of another workspace. */
let foreign: Account;

beforeAll(async () => {
  world = await LeakWorld.open();
  own = await world.addAccount(await world.makeWorkspace("first"), "ownword");
  foreign = await world.addAccount(await world.makeWorkspace("second"), "alienword");
});
afterAll(async () => {
  await world.close();
});

/** Whether a session with the role gets beyond the check of its rights. */
function isOpenTo(role: Role, { access }: Operation): boolean {
  if (access.callers !== undefined && access.callers !== "members") return true;
  const isRead = !access.isWrite || access.changesOwnOnly === true;
  return access.roles.includes(role) && (isRead || role !== "analyst");
}

/** Paths with one parameter in turn, and with all of them, naming a record of the other workspace. */
function foreignPaths(operation: Operation): string[] {
  const places = placesOf(operation);
  const mixed = places.flatMap((at) =>
    (foreign.ids.get(at) ?? []).map((value) =>
      fillPath(operation.path, (place) => (place === at ? value : own.ids.get(place)?.[0])),
    ),
  );
  return [
    ...new Set([...mixed, fillPath(operation.path, (place) => foreign.ids.get(place)?.at(-1))]),
  ];
}

const walk = operationsOfAccounts
  .flatMap((operation) =>
    ROLES.map((role) => ({
      operation,
      role,
      title: `${operation.method} ${operation.path} as ${role}`,
    })),
  )
  .map((one, at) => ({ ...one, at }));

if (!IS_FULL)
  process.stderr.write("P43: each session tries one membership of the other workspace, not all\n");

/** The colleague, and people of the other workspace: in CI one, so that SEED changes who tries what with whose membership. */
function stolenBy(at: number): SessionHeaders[] {
  const others = ROLES.map((role) => foreign.people[role]);
  // Moves on by one with each operation, because the walk has all roles of an operation after each other.
  const turn = SEED + at + Math.floor(at / ROLES.length);
  const tried = IS_FULL ? others : [others[turn % others.length] ?? foreign.people.admin];
  return [...tried, own.people.admin];
}

test("there is a record for every parameter of a path, people included", () => {
  const places = new Set(operationsOfAccounts.flatMap(placesOf));
  expect([...places].filter((place) => own.ids.get(place) === undefined)).toEqual([]);
});

test.each(walk.filter(({ operation }) => placesOf(operation).length > 0))(
  "$title: a session finds no record of another workspace (P43)",
  async ({ operation, role }) => {
    for (const path of foreignPaths(operation)) {
      const body = operation.method === "GET" ? undefined : {};
      const answer = await world.callAs(own.people[role], operation.method, path, body);
      expect([path, answer.status]).toEqual([path, isOpenTo(role, operation) ? 404 : 403]);
      expect(answer.text).not.toContain(foreign.word);
    }
  },
);

test.each(walk.filter(({ operation }) => operation.access.callers === undefined))(
  "$title: a session cannot act in a membership of somebody else (P43)",
  async ({ operation, role, at }) => {
    const path = fillPath(operation.path, (place) => foreign.ids.get(place)?.[0]);
    for (const stolen of stolenBy(at)) {
      const mine = own.people[role];
      if (stolen.cookie === mine.cookie) continue;
      const headers = { ...mine, "x-tracker-membership": stolen["x-tracker-membership"] };
      const body = operation.method === "GET" ? undefined : {};
      const answer = await world.callAs(headers, operation.method, path, body);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.text).not.toContain(foreign.word);
    }
  },
);

/** Required parameters of some lists and reports. */
const QUERIES: Readonly<Record<string, string>> = {
  "/reports": "?preset=today&group_by=offer,affiliate",
  "/reports/timeseries": "?preset=today&interval=day",
  "/clicks": "?preset=today",
  "/conversions": "?preset=today",
  "/payout-runs/{id}/export": "?format=csv",
};
/** Answers that contain facts about their own requests, name the key, or have what only the caller has made. */
const CHANGING = new Set(["/me", "/audit-log", "/keys", "/keys/{id}", "/saved-views"]);
/** An audit runs when it is asked for, and says when. */
const withoutClock = (text: string): string => text.replace(/"audited_at":"[^"]+"/, "");

test.each(
  walk.filter(
    ({ operation, role }) =>
      operation.method === "GET" &&
      operation.access.callers === undefined &&
      operation.path !== "/tracking-link" &&
      operation.access.roles.includes(role),
  ),
)(
  "$title: a session sees byte for byte what a key sees (P30, P43)",
  async ({ operation, role }) => {
    const filled = fillPath(
      operation.path,
      (place) => (own.ids.get(ofRole(place, role)) ?? own.ids.get(place))?.[0],
    );
    const path = `${filled}${QUERIES[operation.path] ?? ""}`;
    const bySession = await world.callAs(own.people[role], "GET", path);
    expect([path, bySession.status]).toEqual([path, 200]);
    expect(bySession.text).not.toContain(foreign.word);
    if (CHANGING.has(operation.path)) return;
    const byKey = await world.call("GET", path, own.keys[role]);
    expect(withoutClock(bySession.text)).toBe(withoutClock(byKey.text));
  },
);

test.each(
  walk.filter(
    ({ operation }) => operation.method === "GET" && operation.access.callers !== undefined,
  ),
)("$title: lists of people show nobody of another workspace (P43)", async ({ operation, role }) => {
  const answer = await world.callAs(own.people[role], "GET", operation.path);
  expect([operation.path, answer.status]).toEqual([operation.path, 200]);
  expect(answer.text).not.toContain(foreign.word);
  const isOfAccount = role === "partner" || role === "advertiser";
  const showsStaff = answer.text.includes(`admin@${own.word}`);
  expect(isOfAccount && showsStaff).toBe(false);
});

test("writes of one person in two workspaces at once land each in its own (P43)", async (context) => {
  const { personId, cookie } = await signInDirectly(world.db, "both@tabs.example");
  const { rows } = await world.db.query<{ id: number; slug: string }>({
    text: "select id, slug from workspace where slug in ('first', 'second') order by slug",
  });
  const tabs = await Promise.all(
    rows.map(async ({ id, slug }) => ({
      slug,
      headers: headersIn(
        cookie,
        (await insertMembership(world.db, { personId, workspaceId: id, role: "admin" })) ?? 0,
      ),
    })),
  );
  const numbers = Array.from({ length: WRITES }, (_, i) => i).values();
  const send = async (): Promise<void> => {
    for (const i of numbers) {
      const tab = tabs[i % tabs.length];
      if (tab === undefined) continue;
      const answer = await world.callAs(tab.headers, "POST", "/users", {
        name: `${tab.slug} ${i}`,
      });
      expect(answer.status).toBe(201);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  const { rows: wrong } = await world.db.query<{ name: string }>({
    text: `select u.name from app_user u join workspace w on w.id = u.workspace_id
           where u.name ~ '^(first|second) [0-9]+$' and u.name not like w.slug || ' %'`,
  });
  reportCases(context, { cases: WRITES, violations: wrong.length });
  expect(wrong).toEqual([]);
});
