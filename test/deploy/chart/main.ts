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
import { until } from "../../system/until.ts";
import { Cluster } from "./cluster.ts";
import { crdFiles, kubeSchemas } from "./kube-schemas.ts";
import { REFUSED_VALUES } from "./refused-values.ts";

const CHART = projectFile("deploy", "helm", "tracker");
const EXAMPLES = join(CHART, "examples");
const NAMESPACE = "shop";
const KUBE_VERSION = "1.34.0";
const INSTALL_MS_MAX = 120_000;

const Meta = z.looseObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
});
const PodSpec = z.looseObject({
  containers: z.array(
    z.looseObject({ volumeMounts: z.array(z.looseObject({ name: z.string() })) }),
  ),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
});
const Rendered = z.looseObject({ kind: z.string(), metadata: Meta });
const Workload = Rendered.extend({
  spec: z.looseObject({ template: z.object({ metadata: z.unknown(), spec: PodSpec }) }),
});

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

async function main([programs = "", swagger = "", ...crds]: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tracker-chart-"));
  const helm = new Helm(join(programs, "helm"), folder);
  try {
    const examples = readdirSync(EXAMPLES).filter((file) => file.endsWith(".yaml"));
    assert(examples.length >= 8, "at least eight sets of values");
    const rendered = examples.map((file) => ({ file, text: renderOne(helm, file) }));
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
  await create(cluster, "/api/v1/namespaces", {
    metadata: { name: NAMESPACE, labels: restricted },
  });
  // The controllers that make it are not here.
  await create(cluster, `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, {
    metadata: { name: "default" },
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
  for (const rendered of documentsOf(text).filter(isWorkload)) {
    const { metadata, spec } = Workload.parse(rendered);
    const { template } = spec;
    const named = new Set(template.spec.volumes.map(({ name }) => name));
    const claimed = template.spec.containers
      .flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name))
      .filter((name) => !named.has(name))
      .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    await create(cluster, `/api/v1/namespaces/${NAMESPACE}/pods?dryRun=All`, {
      metadata: { name: metadata.name },
      spec: { ...template.spec, volumes: [...template.spec.volumes, ...claimed] },
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
  helm.run("rollback", "tracker", "2", "--no-hooks");
  say("a change of the journals' size is refused, and the release goes on");
}

const StatefulSetSpec = z.object({
  spec: z.object({
    replicas: z.int(),
    template: z.object({ spec: PodSpec }),
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

function isWorkload({ kind }: { readonly kind: string }): boolean {
  return ["StatefulSet", "Deployment", "Job"].includes(kind);
}

await main(process.argv.slice(2));
