/**
 * `node main.js <programs> <swagger.json> <folder of CRDs>…`: tries the chart with helm, with schemas of the API and on a real
 * kube-apiserver. deploy/helm/check.sh builds the programs and starts it.
 */
import assert from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { SECRETS_KEY } from "../../samples/secret-keys.ts";
import { until } from "../../system/until.ts";
import { Cluster } from "./cluster.ts";
import { crdFiles, kubeSchemas } from "./kube-schemas.ts";
import { checkPods, podTemplates } from "./pod-rules.ts";
import { REFUSED_VALUES } from "./refused-values.ts";

const CHART = projectFile("deploy", "helm", "tracker");
const EXAMPLES = join(CHART, "examples");
const NAMESPACE = "shop";
/** Where pods are tried: helm must not find accounts in its own that it has not made. */
const PODS_NAMESPACE = "shop-pods";
const KUBE_VERSION = "1.34.0";
const INSTALL_MS_MAX = 120_000;

/** Secrets of minimal.yaml, so that a change of one shows. */
const SECRETS = {
  "tracker-postgres": { url: "postgres://tracker@postgres/tracker" },
  "tracker-nats": { url: "nats://nats", sysUrl: "nats://sys@nats", ingress: "p1", api: "p2" },
  "tracker-clickhouse": { writerUrl: "http://w@c/t", readerUrl: "http://r@c/t" },
  "tracker-console": {
    secret: "a text of more than 32 characters, as it must be",
    secretsKey: SECRETS_KEY,
  },
};

const Meta = z.looseObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
});
const Rendered = z.looseObject({ kind: z.string(), metadata: Meta });

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

async function main([programs = "", swagger = "", ...crds]: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tracker-chart-"));
  const helm = new Helm(join(programs, "helm"), folder);
  try {
    const examples = readdirSync(EXAMPLES).filter((file) => file.endsWith(".yaml"));
    assert(examples.length >= 9, "at least nine sets of values");
    const rendered = examples.map((file) => ({ file, text: renderOne(helm, file) }));
    for (const { file, text } of rendered)
      checkPods(documentsOf(text), { isStrict: file !== "one-node.yaml" });
    say("every pod is strict and has the secrets of its part, and no others");
    refuseWrongValues(helm);
    checkSchemas(rendered, { programs, folder, swagger, crds });
    say("starting etcd and kube-apiserver");
    const cluster = await Cluster.start(programs, folder);
    helm.useCluster(cluster.kubeconfig);
    try {
      await prepareNamespace(cluster, crds.flatMap(crdFiles));
      for (const { text } of rendered) await admitPods(cluster, text);
      for (const { file } of rendered) {
        helm.run("install", "tracker", CHART, "--values", join(EXAMPLES, file), "--dry-run=server");
        say(`${file}: a server-side dry run of the installation passes`);
      }
      await installAndUpgrade(cluster, helm);
    } finally {
      await cluster.stop();
    }
    say("the chart passes");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Helm {
  readonly program: string;
  readonly #env: Record<string, string>;

  constructor(program: string, folder: string) {
    this.program = program;
    this.#env = { PATH: process.env["PATH"] ?? "", HOME: folder, HELM_CACHE_HOME: folder };
  }

  useCluster(kubeconfig: string): void {
    this.#env["KUBECONFIG"] = kubeconfig;
  }

  /** @throws unless helm succeeds. */
  run(...args: readonly string[]): string {
    const { status, stdout, stderr } = this.attempt(...args);
    assert.equal(status, 0, `helm ${args.join(" ")}:\n${stderr}${stdout}`);
    return stdout;
  }

  attempt(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(this.program, [...args, ...this.#namespace(args)], {
      env: this.#env,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
  }

  /** Like `run`, but other work goes on meanwhile. */
  async runBeside(...args: readonly string[]): Promise<void> {
    const child = spawn(this.program, [...args, ...this.#namespace(args)], {
      env: this.#env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    assert.equal(code, 0, `helm ${args.join(" ")}:\n${errors}`);
  }

  #namespace([command]: readonly string[]): string[] {
    return command === "lint" ? [] : ["--namespace", NAMESPACE];
  }
}

function renderOne(helm: Helm, file: string): string {
  const values = join(EXAMPLES, file);
  helm.run(
    "lint",
    CHART,
    "--strict",
    "--quiet",
    "--kube-version",
    KUBE_VERSION,
    "--values",
    values,
  );
  const text = helm.run(
    ...["template", "tracker", CHART, "--kube-version", KUBE_VERSION, "--values", values],
  );
  say(`${file}: lint and template, ${documentsOf(text).length} objects`);
  return text;
}

/** A wrong value must end with a sentence that names it. */
function refuseWrongValues(helm: Helm): void {
  const values = join(EXAMPLES, "minimal.yaml");
  for (const { set, sentence } of REFUSED_VALUES) {
    const settings = set.flatMap((one) => ["--set-json", one]);
    const { status, stderr } = helm.attempt(
      ...["template", "tracker", CHART, "--kube-version", KUBE_VERSION],
      ...["--values", values, ...settings],
    );
    assert.notEqual(status, 0, `${set.join(" ")} was accepted`);
    assert.match(stderr, sentence);
  }
  say(`${REFUSED_VALUES.length} wrong values are refused, each by its name`);
}

function checkSchemas(
  rendered: readonly { file: string; text: string }[],
  at: { programs: string; folder: string; swagger: string; crds: readonly string[] },
): void {
  const schemas = join(at.folder, "schemas");
  mkdirSync(schemas);
  const kinds = new Set(rendered.flatMap(({ text }) => documentsOf(text).map(({ kind }) => kind)));
  for (const [file, schema] of kubeSchemas(at.swagger, at.crds)) {
    const isUsed = [...kinds].some((kind) => file.startsWith(`${kind.toLowerCase()}-`));
    if (isUsed) writeFileSync(join(schemas, file), JSON.stringify(schema));
  }
  for (const { file, text } of rendered) {
    const { status, stdout } = spawnSync(
      join(at.programs, "kubeconform"),
      [
        ...["-strict", "-summary", "-output", "text"],
        ...["-schema-location", `${schemas}/{{.ResourceKind}}{{.KindSuffix}}.json`],
      ],
      { input: text, encoding: "utf8" },
    );
    assert.equal(status, 0, `kubeconform ${file}:\n${stdout}`);
    say(`${file}: ${stdout.trim()}`);
  }
}

/** What the namespace of a careful operator has: pod security, the operators' definitions, priority classes. */
async function prepareNamespace(cluster: Cluster, crds: readonly string[]): Promise<void> {
  const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
  for (const name of [NAMESPACE, PODS_NAMESPACE])
    await create(cluster, "/api/v1/namespaces", { metadata: { name, labels: restricted } });
  // A pod needs its account. The controllers that make `default` are not here.
  for (const name of ["default", "tracker", "tracker-migrate", "tracker-backup"])
    await create(cluster, `/api/v1/namespaces/${PODS_NAMESPACE}/serviceaccounts`, {
      metadata: { name },
    });
  for (const [name, data] of Object.entries(SECRETS))
    await create(cluster, `/api/v1/namespaces/${NAMESPACE}/secrets`, {
      metadata: { name },
      stringData: data,
    });
  for (const [name, value] of [["visitors-first", 1000] as const, ["service", 500] as const]) {
    await create(cluster, "/apis/scheduling.k8s.io/v1/priorityclasses", {
      metadata: { name },
      value,
    });
  }
  for (const file of crds) {
    const crd: unknown = parse(readFileSync(file, "utf8"));
    assert(typeof crd === "object" && crd !== null);
    await create(cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    say(`definition of ${basename(file, ".yaml")}`);
  }
  await until(
    "the definitions are served",
    async () => {
      const answers = await Promise.all(
        ["monitoring.coreos.com/v1", "gateway.networking.k8s.io/v1"].map((group) =>
          cluster.call("GET", `/apis/${group}`),
        ),
      );
      return answers.every(({ status }) => status === 200);
    },
    { timeoutMs: INSTALL_MS_MAX },
  );
}

/** No controller makes pods here, so each pod template is sent as a pod: pod security must admit it. */
async function admitPods(cluster: Cluster, text: string): Promise<void> {
  for (const [name, { spec }] of podTemplates(documentsOf(text))) {
    const named = new Set(spec.volumes.map((volume) => volume.name));
    const claimed = spec.containers
      .flatMap(({ volumeMounts }) => volumeMounts.map((mount) => mount.name))
      .filter((volume) => !named.has(volume))
      .map((volume) => ({ name: volume, persistentVolumeClaim: { claimName: volume } }));
    await create(cluster, `/api/v1/namespaces/${PODS_NAMESPACE}/pods?dryRun=All`, {
      metadata: { name },
      spec: { ...spec, volumes: [...spec.volumes, ...claimed] },
    });
  }
}

async function installAndUpgrade(cluster: Cluster, helm: Helm): Promise<void> {
  const left = ["--set", "journalJob.claims={journal-tracker-ingress-7}"];
  const newer = [...left, "--set", "image.tag=0.1.1"];
  const minimal = ["--values", join(EXAMPLES, "minimal.yaml"), ...left];
  await withMigration(cluster, () => helm.runBeside("install", "tracker", CHART, ...minimal));
  const [first] = await statefulSet(cluster);
  assert.equal(first?.replicas, 3);
  const firstJobs = await shipping(cluster);
  say("installed: nothing but the migration existed before it had succeeded");
  await restartByAnnotation(cluster, helm, minimal);
  const monitored = ["--values", join(EXAMPLES, "monitored.yaml")];
  const storage = ["--set", "ingress.journal.storageClass=standard", "--set", "ingress.replicas=5"];
  await withMigration(cluster, () =>
    helm.runBeside("upgrade", "tracker", CHART, ...monitored, ...storage, ...newer),
  );
  const [second] = await statefulSet(cluster);
  assert.deepEqual(
    [second?.replicas, second?.template.spec.containers[0]?.["args"]],
    [5, ["ingress", "--workers", "8"]],
  );
  const rules = await cluster.call(
    "GET",
    `/apis/monitoring.coreos.com/v1/namespaces/${NAMESPACE}/prometheusrules/tracker`,
  );
  assert.equal(rules.status, 200);
  const jobs = await shipping(cluster);
  assert.equal(jobs.length, 1);
  // The API refuses a changed pod of a job.
  assert.notDeepEqual(jobs, firstJobs);
  say("upgraded: more pods and workers, the alerts are there, a journal job was replaced");
  const { status, stderr } = helm.attempt(
    ...["upgrade", "tracker", CHART, ...monitored, ...storage, ...newer],
    ...["--set", "ingress.journal.size=1Gi", "--no-hooks"],
  );
  assert.notEqual(status, 0, "a journal cannot shrink");
  assert.match(stderr, /StatefulSet/);
  helm.run("rollback", "tracker", "4", "--no-hooks");
  say("a change of the journals' size is refused, and the release goes on");
}

/** A pod whose secret has changed is replaced by the next upgrade, and no other pod is. */
async function restartByAnnotation(
  cluster: Cluster,
  helm: Helm,
  values: readonly string[],
): Promise<void> {
  const upgrade = async (...more: readonly string[]): Promise<void> => {
    await withMigration(cluster, () =>
      helm.runBeside("upgrade", "tracker", CHART, ...values, ...more),
    );
  };
  const first = await checksums(cluster);
  assert.match(first["api"] ?? "", /^[0-9a-f]{64}$/);
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets/tracker-console`;
  const changed = { stringData: { secret: "another text of more than 32 characters" } };
  assert.equal((await cluster.call("PATCH", path, changed)).status, 200);
  await upgrade();
  const second = await checksums(cluster);
  assert.notEqual(second["api"], first["api"]);
  assert.deepEqual({ ...second, api: "" }, { ...first, api: "" });
  await upgrade("--set", "restartOnSecretChange=false");
  assert.deepEqual(Object.values(await checksums(cluster)).filter(Boolean), []);
  say("an upgrade restarts the pods that read a changed secret, and no others");
}

const Annotated = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
    }),
  }),
});

/** The annotation of the secrets of some pods. */
async function checksums(cluster: Cluster): Promise<Record<string, string | undefined>> {
  const objects = { ingress: "statefulsets", writers: "statefulsets", api: "deployments" };
  const found = Object.entries(objects).map(async ([part, kind]) => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/${kind}/tracker-${part}`;
    const { spec } = Annotated.parse((await cluster.call("GET", path)).body);
    return [part, spec.template.metadata.annotations["checksum/secrets"]] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

const StatefulSetSpec = z.object({
  spec: z.object({
    replicas: z.int(),
    template: z.object({
      metadata: z.unknown(),
      spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() })) }),
    }),
  }),
});

async function statefulSet(cluster: Cluster): Promise<z.infer<typeof StatefulSetSpec>["spec"][]> {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/tracker-ingress`;
  const { status, body } = await cluster.call("GET", path);
  return status === 404 ? [] : [StatefulSetSpec.parse(body).spec];
}

const Jobs = z.object({ items: z.array(z.object({ metadata: Meta })) });

/** Names of the jobs that ship journals. */
async function shipping(cluster: Cluster): Promise<string[]> {
  const { body } = await cluster.call("GET", `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`);
  return Jobs.parse(body)
    .items.map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith("ship-"));
}

/** Stands in for the controller of jobs: completes the migration while helm waits for it. */
async function withMigration(cluster: Cluster, helmRun: () => Promise<void>): Promise<void> {
  const job = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs/tracker-migrate`;
  const before = await statefulSet(cluster);
  const running = helmRun();
  const migrated = until(
    "helm has made the migration",
    async () => (await cluster.call("GET", job)).status === 200,
    { timeoutMs: INSTALL_MS_MAX, pollMs: 50 },
  ).then(async () => {
    assert.deepEqual(await statefulSet(cluster), before, "the pods changed before the migration");
    const at = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const met = { status: "True", lastProbeTime: at, lastTransitionTime: at };
    const { status, body } = await cluster.call("PATCH", `${job}/status`, {
      status: {
        succeeded: 1,
        startTime: at,
        completionTime: at,
        uncountedTerminatedPods: {},
        conditions: [
          { type: "SuccessCriteriaMet", ...met },
          { type: "Complete", ...met },
        ],
      },
    });
    assert.equal(status, 200, JSON.stringify(body));
  });
  await Promise.all([running, migrated]);
}

async function create(cluster: Cluster, path: string, object: object): Promise<void> {
  const { status, body } = await cluster.call("POST", path, object);
  assert.equal(status, 201, `${path}: ${JSON.stringify(body["message"])}`);
}

function documentsOf(text: string): z.infer<typeof Rendered>[] {
  return parseAllDocuments(text)
    .filter(({ contents }) => contents !== null)
    .map((document) => Rendered.parse(document.toJS()));
}

await main(process.argv.slice(2));
