import { beforeEach, describe, expect, test } from "vitest";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { details, list, record, refusal, someId, someText } from "./api-world.ts";
import { PUBLIC_URL, WebhookWorld } from "./webhook-world.ts";

const hooks = await forThisFile(WebhookWorld.open());
const world = hooks.api;
beforeEach(() => hooks.reset());

describe("REST", () => {
  test("a new webhook is active and has a secret of 48 hex digits (G131, WH-016)", async () => {
    const answer = await hooks.create();
    expect(answer.status).toBe(201);
    const made = record(answer);
    expect(made).toEqual({
      id: someId,
      name: "Hook",
      url: PUBLIC_URL,
      events: ["conversion.created"],
      active: true,
      secret: someText,
      created_at: someText,
      updated_at: someText,
    });
    expect(made["secret"]).toMatch(/^whsec_[0-9a-f]{48}$/);
    expect(record(await world.get(`/webhooks/${made.id}`))).toEqual(made);
    expect(list(await world.get("/webhooks"))).toEqual([made]);
    const changed = record(
      await world.patch(`/webhooks/${made.id}`, { active: false, events: ["offer.updated"] }),
    );
    expect(changed).toMatchObject({ active: false, events: ["offer.updated"], name: "Hook" });
    expect(changed["secret"]).toBe(made["secret"]);
    const removed = await world.call("DELETE", `/webhooks/${made.id}`);
    expect(removed.body).toEqual({ data: { id: made.id, deleted: true } });
    expect(refusal(await world.get(`/webhooks/${made.id}`))).toBe("404 not_found");
  });

  test("all documented events can be subscribed to, and no others (WH-018, G128)", async () => {
    const events = words(`
  conversion.created conversion.updated offer.created offer.updated affiliate.signup
  affiliate.updated access.requested access.decided invoice.created invoice.paid
`);
    expect(record(await hooks.create({ events }))["events"]).toEqual(events);
    for (const wrong of [
      ["click.created"],
      [],
      ["offer.created", "offer.created"],
      "offer.created",
    ])
      expect(
        Object.keys(details(await hooks.create({ events: wrong })).fields).join(),
        String(wrong),
      ).toMatch(/^events/);
    expect(details(await world.post("/webhooks", {})).fields).toEqual({
      name: "required",
      url: "required",
      events: "required",
    });
  });

  test.each(["ftp://hooks.example/", "http://127.0.0.1/"])(
    "%s is refused (WH-016)",
    async (url) => {
      const answer = await hooks.create({ url });
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(Object.keys(details(answer).fields)).toEqual(["url"]);
      const hook = record(await hooks.create());
      expect(refusal(await world.patch(`/webhooks/${hook.id}`, { url }))).toBe(
        "400 validation_failed",
      );
    },
  );

  test("ALLOW_PRIVATE_DESTINATIONS allows loopback only (WH-016, G127)", async () => {
    const create = async (url: string) =>
      await world.callAt(hooks.loopback, "POST", "/webhooks", {
        body: { name: "Hook", url, events: ["offer.created"] },
      });
    expect((await create("http://127.0.0.1:9/")).status).toBe(201);
    expect(refusal(await create("http://10.0.0.1/"))).toBe("400 validation_failed");
  });

  test("50 of 60 concurrent calls succeed, and one more after a removal (WH-017)", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => hooks.create()));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(50);
    const refused = answers.filter(({ status }) => status !== 201).map(refusal);
    expect(new Set(refused)).toEqual(new Set(["409 conflict"]));
    expect(list(await world.get("/webhooks?limit=200"))).toHaveLength(50);
    const { keys } = hooks.foreign;
    expect((await hooks.create({}, keys.admin)).status).toBe(201);
    const [first] = made;
    if (first !== undefined) await world.call("DELETE", `/webhooks/${record(first).id}`);
    expect((await hooks.create()).status).toBe(201);
    expect(refusal(await hooks.create())).toBe("409 conflict");
  });

  test("admins see and rotate the secret; analysts read the rest; others nothing (AUTH-026)", async () => {
    const { keys } = world.tenant;
    const hook = record(await hooks.create());
    const path = `/webhooks/${hook.id}`;
    const { secret, ...visible } = hook;
    expect(record(await world.get(path, keys.analyst))).toEqual(visible);
    expect(list(await world.get("/webhooks", keys.analyst))).toEqual([visible]);
    expect((await world.get(`${path}/deliveries`, keys.analyst)).status).toBe(200);
    const rotated = record(await world.call("POST", `${path}/rotate-secret`));
    expect(rotated["secret"]).toMatch(/^whsec_[0-9a-f]{48}$/);
    expect(rotated["secret"]).not.toBe(secret);
    expect(record(await world.get(path))["secret"]).toBe(rotated["secret"]);
    const writes: [string, string, unknown?][] = [
      ["POST", "/webhooks", { name: "x", url: PUBLIC_URL, events: ["offer.created"] }],
      ["PATCH", path, { name: "x" }],
      ["DELETE", path],
      ["POST", `${path}/rotate-secret`],
      ["POST", `${path}/test`, { event: "offer.created" }],
      ["POST", "/webhook-deliveries/00000000-0000-4000-8000-000000000000/retry"],
    ];
    for (const [method, at, body] of writes) {
      const by = async (key: string) =>
        refusal(await world.call(method, at, { key, ...(body === undefined ? {} : { body }) }));
      expect(await by(keys.analyst), at).toBe("403 read_only_key");
      expect(await by(keys.partner), at).toBe("403 forbidden");
      expect(await by(keys.advertiser), at).toBe("403 forbidden");
    }
    for (const at of ["/webhooks", path, `${path}/deliveries`]) {
      expect(refusal(await world.get(at, keys.partner)), at).toBe("403 forbidden");
      expect(refusal(await world.get(at, keys.advertiser)), at).toBe("403 forbidden");
    }
    expect(refusal(await world.get(path, hooks.foreign.keys.admin))).toBe("404 not_found");
    const rotateForeign = `${path}/rotate-secret`;
    expect(
      refusal(await world.call("POST", rotateForeign, { key: hooks.foreign.keys.admin })),
    ).toBe("404 not_found");
  });

  test("an admin key with permissions needs webhooks.manage to read and write (AUTH-026)", async () => {
    const key = async (permissions: string[]) =>
      String(record(await world.post("/keys", { name: "k", role: "admin", permissions }))["key"]);
    const hook = record(await hooks.create());
    const others = await key(["offers.read"]);
    expect(refusal(await world.get(`/webhooks/${hook.id}`, others))).toBe("403 forbidden");
    expect(refusal(await hooks.create({}, others))).toBe("403 forbidden");
    const managing = await key(["webhooks.manage"]);
    expect(record(await world.get(`/webhooks/${hook.id}`, managing))).toEqual(hook);
    expect((await hooks.create({}, managing)).status).toBe(201);
  });
});
