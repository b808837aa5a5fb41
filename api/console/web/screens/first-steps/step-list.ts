import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { type Reader, readReport } from "../../client/reports.ts";
import type { Membership } from "../../member/membership.ts";

type Permission = Membership["permissions"][number];

export type FirstStep = {
  readonly name: string;
  readonly title: string;
  /** What it is good for. */
  readonly about: string;
  /** Words of its button, and where it leads. */
  readonly action: string;
  readonly path: string;
  readonly permission: Permission;
  readonly isDone: boolean;
};

type Step = Omit<FirstStep, "isDone"> & {
  readonly find: (reader: Reader, signal: AbortSignal) => Promise<boolean>;
  /** A click has a domain, an offer with its advertiser, and a partner. */
  readonly provedByClick?: boolean;
};

const ONE = { limit: 1 } as const;
/** Before the service existed: the whole time. */
const EVER = "2020-01-01";

const CATALOG: readonly Step[] = [
  {
    name: "domain",
    title: "Add a tracking domain",
    about: "Links and postbacks use its name.",
    action: "Add a domain",
    path: "/workspace/domains",
    permission: "offers.write",
    provedByClick: true,
    find: async ({ api }, signal) =>
      isAny(await read(api.GET("/tracking-domains", { params: { query: ONE }, signal }))),
  },
  {
    name: "advertiser",
    title: "Create an advertiser",
    about: "The company whose product is sold.",
    action: "New advertiser",
    path: "/advertisers?new=1",
    permission: "advertisers.write",
    provedByClick: true,
    find: async ({ api }, signal) =>
      isAny(await read(api.GET("/advertisers", { params: { query: ONE }, signal }))),
  },
  {
    name: "offer",
    title: "Create an offer",
    about: "What partners promote, and what they are paid.",
    action: "New offer",
    path: "/offers?new=1",
    permission: "offers.write",
    provedByClick: true,
    find: async ({ api }, signal) =>
      isAny(await read(api.GET("/offers", { params: { query: ONE }, signal }))),
  },
  {
    name: "partner",
    title: "Approve a partner",
    about: "Create one, or invite somebody under People.",
    action: "New partner",
    path: "/partners?new=1",
    permission: "affiliates.write",
    provedByClick: true,
    find: async ({ api }, signal) => {
      const query = { ...ONE, status: "active" } as const;
      return isAny(await read(api.GET("/affiliates", { params: { query }, signal })));
    },
  },
  {
    name: "token",
    title: "Report from the advertiser's server",
    about: "Give the advertiser its postback token. The first call that arrives ticks this off.",
    action: "Postback token",
    path: "/workspace#postback-token",
    permission: "conversions.read",
    find: async ({ api }, signal) => {
      const query = fromAddress({ limit: String(CALLS_READ), from: lastDays() });
      const { data } = await read(api.GET("/postback-log", { params: { query }, signal }));
      return data.some(({ endpoint }) => endpoint === "pb");
    },
  },
];

/** The log of calls is kept for 30 days. */
const LOG_DAYS = 30;
/** Pixels and scripts are in the log, too. */
const CALLS_READ = 200;
const DAY_MS = 86_400_000;

function lastDays(): string {
  return new Date(Date.now() - LOG_DAYS * DAY_MS).toISOString();
}

function isAny({ data }: { readonly data: readonly unknown[] }): boolean {
  return data.length > 0;
}

/**
 * The steps to a first conversion and which are done. Empty after it, because it proves the steps before. A step whose state cannot be read is left
 * out: nothing false is shown.
 */
export async function readFirstSteps(
  reader: Membership,
  signal: AbortSignal,
): Promise<readonly FirstStep[]> {
  const { totals } = await readReport(reader, {
    from: EVER,
    metrics: "clicks,gross_conversions",
  });
  const has = (metric: string): boolean => Number(totals[metric] ?? 0) > 0;
  if (has("gross_conversions")) return [];
  const steps = CATALOG.filter(({ permission }) => reader.permissions.includes(permission));
  const found = await Promise.all(
    steps.map(async ({ provedByClick, ...step }) =>
      provedByClick === true && has("clicks")
        ? { ...shownOf(step), isDone: true }
        : await stateOf(step, reader, signal),
    ),
  );
  return [...found.flatMap((step) => step ?? []), ...trafficSteps(has("clicks"))];
}

async function stateOf(
  step: Step,
  reader: Reader,
  signal: AbortSignal,
): Promise<FirstStep | undefined> {
  try {
    return { ...shownOf(step), isDone: await step.find(reader, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

function shownOf({
  find: _find,
  provedByClick: _proved,
  ...shown
}: Step): Omit<FirstStep, "isDone"> {
  return shown;
}

function trafficSteps(hasClicks: boolean): readonly FirstStep[] {
  return [
    {
      name: "click",
      title: "Send the first click",
      about: "Make a tracking link and open it yourself.",
      action: "Make a link",
      path: "/links",
      permission: "offers.read",
      isDone: hasClicks,
    },
    {
      name: "conversion",
      title: "Record the first conversion",
      about: "Call the postback address with the ID of your click.",
      action: "See what arrives",
      path: "/integrations/inbound",
      permission: "conversions.read",
      isDone: false,
    },
  ];
}
