import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { freePort } from "../../system/start-system.ts";

export const EDGES = ["caddy", "haproxy"] as const;
export type EdgeName = (typeof EDGES)[number];

export type EdgeParts = {
  /** For certificates and the changed example; empty. */
  readonly folder: string;
  /** Where it serves TLS. */
  readonly port: number;
  readonly names: { readonly served: string; readonly api: string };
  readonly ingressPort: number;
  readonly apiPort: number;
  /** Says which names get a certificate. */
  readonly tlsAsk: string;
};

export function isInstalled(name: EdgeName): boolean {
  return spawnSync(name, ["version"]).error === undefined;
}

/** The real program with the example file of `deploy/edge`, which is changed only in ports, servers and certificates. */
export async function startEdge(name: EdgeName, parts: EdgeParts): Promise<ChildProcess> {
  return name === "caddy" ? await startCaddy(parts) : await startHaproxy(parts);
}

async function startCaddy(parts: EdgeParts): Promise<ChildProcess> {
  const { folder, port, names, ingressPort, apiPort, tlsAsk } = parts;
  const example = await readFile(projectFile("deploy", "edge", "Caddyfile"), "utf8");
  const own = [
    "local_certs",
    "skip_install_trust",
    `http_port ${await freePort()}`,
    `https_port ${port}`,
    `storage file_system ${join(folder, "caddy")}`,
  ];
  const file = join(folder, "Caddyfile");
  await writeFile(file, example.replace(/^\{$/m, `{\n\t${own.join("\n\t")}`));
  return spawn("caddy", ["run", "--adapter", "caddyfile", "--config", file], {
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      API_HOST: names.api,
      API: `127.0.0.1:${apiPort}`,
      INGRESS: `127.0.0.1:${ingressPort}`,
      TLS_ASK: tlsAsk,
      CADDY_ADMIN: "off",
    },
  });
}

async function startHaproxy(parts: EdgeParts): Promise<ChildProcess> {
  const { folder, port, ingressPort, apiPort } = parts;
  const certificates = await makeCertificate(parts);
  const example = await readFile(projectFile("deploy", "edge", "haproxy.cfg"), "utf8");
  const file = join(folder, "haproxy.cfg");
  const config = example
    .replace("bind :80 ", `bind 127.0.0.1:${await freePort()} `)
    .replace("bind :443 ", `bind 127.0.0.1:${port} `)
    .replace("/etc/haproxy/certs/", `${certificates}/`)
    .replaceAll("ingress-1 127.0.0.1:8080", `ingress-1 127.0.0.1:${ingressPort}`)
    .replace("api-1 127.0.0.1:8081", `api-1 127.0.0.1:${apiPort}`);
  await writeFile(file, config);
  return spawn("haproxy", ["-W", "-db", "-f", file], { stdio: "ignore" });
}

/** Returns the folder with one PEM file for both names. */
async function makeCertificate({ folder, names }: EdgeParts): Promise<string> {
  const certificates = join(folder, "certs");
  await mkdir(certificates);
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const subject = ["-subj", "/CN=edge", "-addext"];
  const alternatives = `subjectAltName=DNS:${names.served},DNS:${names.api}`;
  const files = ["-keyout", key, "-out", certificate];
  const { status, stderr } = spawnSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      ...subject,
      alternatives,
      ...files,
    ],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  const pem = (await readFile(certificate, "utf8")) + (await readFile(key, "utf8"));
  await writeFile(join(certificates, "edge.pem"), pem);
  return certificates;
}
