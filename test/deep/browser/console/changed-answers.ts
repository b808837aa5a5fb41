import type { Page } from "playwright-core";
import { z } from "zod";

/** Answers of the API as the page gets them, changed on the way. Returns how often the page has asked. */
async function changeAnswer<Body>(
  page: Page,
  url: string | RegExp,
  { form, change }: { readonly form: z.ZodType<Body>; readonly change: (body: Body) => unknown },
): Promise<() => number> {
  let asked = 0;
  await page.route(url, async (route) => {
    asked += 1;
    const answer = await route.fetch();
    const body: unknown = await answer.json();
    await route.fulfill({ status: answer.status(), json: change(form.parse(body)) });
  });
  return () => asked;
}

const SESSION = "**/api/v1/session";
const Session = z.looseObject({
  data: z.looseObject({
    person: z.looseObject({}),
    memberships: z.array(z.looseObject({ workspace: z.looseObject({}) })),
  }),
});
const Written = z.object({ preferences: z.record(z.string(), z.unknown()) });

/** Keeps the person's preferences in the page, because other files read dates as the same person. Returns what was chosen. */
export async function keepPreferences(page: Page): Promise<() => object> {
  let own: Record<string, unknown> = {};
  await changeAnswer(page, SESSION, {
    form: Session,
    change: ({ data }) => {
      const chosen = Object.entries(own).filter(([, value]) => value !== null);
      const person = { ...data.person, preferences: Object.fromEntries(chosen) };
      return { data: { ...data, person } };
    },
  });
  await page.route("**/api/v1/person", async (route) => {
    own = { ...own, ...Written.parse(route.request().postDataJSON()).preferences };
    await route.fulfill({ json: { data: {} } });
  });
  return () => own;
}

/** Gives the person another membership, which comes first. */
export async function addMembership(page: Page, slug: string): Promise<void> {
  await changeAnswer(page, SESSION, {
    form: Session,
    change: ({ data }) => {
      const [known] = data.memberships;
      const other = { ...known, id: 0, workspace: { ...known?.workspace, slug } };
      return { data: { ...data, memberships: [other, ...data.memberships] } };
    },
  });
}

const Report = z.looseObject({ totals: z.looseObject({}) });

/** Clicks and conversions of the whole workspace, whatever other files have sent. Returns how often the page has asked. */
export async function setTraffic(
  page: Page,
  traffic: { readonly clicks: number; readonly gross_conversions: number },
): Promise<() => number> {
  return await changeAnswer(page, /\/api\/v1\/reports\?.*gross_conversions/, {
    form: Report,
    change: (body) => ({ ...body, totals: { ...body.totals, ...traffic } }),
  });
}

const Offer = z.looseObject({ data: z.looseObject({}) });

/** Gives an offer other values. */
export async function changeOffer(page: Page, id: number, values: object): Promise<void> {
  await changeAnswer(page, new RegExp(`/api/v1/offers/${id}$`), {
    form: Offer,
    change: ({ data }) => ({ data: { ...data, ...values } }),
  });
}
