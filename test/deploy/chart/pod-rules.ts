import assert from "node:assert";
import { z } from "zod";

const Variable = z.looseObject({ name: z.string(), value: z.string().optional() });
const Container = z.looseObject({
  name: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(Variable).default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
});
const Item = z.object({ key: z.string(), path: z.string() });
const Source = z.looseObject({
  secret: z.object({ name: z.string(), items: z.array(Item) }).optional(),
});
const Volume = z.looseObject({
  name: z.string(),
  projected: z.looseObject({ sources: z.array(Source) }).optional(),
});
const Metadata = z.looseObject({
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()).default({}),
});

const PodTemplate = z.looseObject({
  metadata: Metadata,
  spec: z.looseObject({
    serviceAccountName: z.string(),
    containers: z.array(Container),
    initContainers: z.array(Container).default([]),
    volumes: z.array(Volume).default([]),
  }),
});
export type PodTemplate = z.infer<typeof PodTemplate>;

const Workload = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    template: z.unknown().optional(),
    jobTemplate: z.looseObject({ spec: z.looseObject({ template: z.unknown() }) }).optional(),
  }),
});

const KINDS = ["StatefulSet", "Deployment", "Job", "CronJob", "Pod"];
/** Parts whose processes run all the time. */
const RUNNING = ["ingress", "writers", "conversions", "delivery", "schedule", "api"];
/** The only parts that may have all rights at a server. */
const OPERATORS = ["migrate", "commands", "doctor"];

/** The pods that objects of the chart make, by the names of the objects. */
export function podTemplates(
  documents: readonly { readonly kind: string }[],
): [string, PodTemplate][] {
  return documents
    .filter(({ kind }) => KINDS.includes(kind))
    .map((document) => {
      const { kind, metadata, spec } = Workload.parse(document);
      if (kind === "Pod") return [metadata.name, PodTemplate.parse(document)];
      return [metadata.name, PodTemplate.parse(spec.jobTemplate?.spec.template ?? spec.template)];
    });
}

/** What holds for the pods of every set of values. `isStrict`: false only for the values of a trial. */
export function checkPods(
  documents: readonly { readonly kind: string }[],
  { isStrict }: { readonly isStrict: boolean },
): void {
  const pods = podTemplates(documents);
  const parts = pods.map(([, pod]) => partOf(pod));
  for (const part of [...RUNNING, ...OPERATORS]) assert(parts.includes(part), `no pod of ${part}`);
  for (const [name, pod] of pods) {
    checkSecrets(name, pod);
    for (const container of pod.spec.containers) checkDurability(name, container, isStrict);
  }
}

/** Each part has the secrets that it needs as files, and no others. */
function checkSecrets(name: string, pod: PodTemplate): void {
  const part = partOf(pod);
  const items = itemsOf(pod);
  const paths = items.map(({ path }) => path);
  for (const { env } of pod.spec.containers) {
    for (const { name: variable, value = "" } of env) {
      if (!variable.endsWith("_FILE") || !value.startsWith("/etc/tracker/")) continue;
      assert(
        paths.includes(value.replace("/etc/tracker/", "")),
        `${name}: ${variable} has no file`,
      );
    }
  }
  const isRunning = RUNNING.includes(part);
  const hasClickhouse = paths.some((path) => path.startsWith("clickhouse/"));
  assert.equal(hasClickhouse, isRunning ? part !== "ingress" : OPERATORS.includes(part), name);
  assert.equal(paths.includes("clickhouse/readerUrl"), part === "api" && hasReader(items), name);
  assert.equal(paths.includes("console/secret"), part === "api", `${name}: the console's secret`);
  const hasRing = ["api", "commands", "doctor"].includes(part);
  assert.equal(paths.includes("console/secretsKey"), hasRing, `${name}: the keys of secrets`);
  const keys = items.map(({ key }) => key);
  if (!OPERATORS.includes(part)) {
    for (const key of ["migrateUrl", "migrate-url", "operator", "operator-password", "direct-url"])
      assert(!keys.includes(key), `${name} has ${key}`);
  }
}

function checkDurability(
  name: string,
  { name: container, env }: z.infer<typeof Container>,
  isStrict: boolean,
): void {
  const level = env.find((variable) => variable.name === "DURABILITY")?.value;
  // Containers of scripts have no setting of ours.
  if (["postgres", "clickhouse"].includes(container)) return;
  assert.equal(level, isStrict ? "strict" : "relaxed", `${name}: DURABILITY`);
}

function partOf({ metadata }: PodTemplate): string {
  return metadata.labels["app.kubernetes.io/component"] ?? "";
}

function itemsOf({ spec }: PodTemplate): z.infer<typeof Item>[] {
  return spec.volumes.flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ secret }) => secret?.items ?? []),
  );
}

function hasReader(items: readonly z.infer<typeof Item>[]): boolean {
  return items.some(({ key }) => /reader/.test(key));
}
