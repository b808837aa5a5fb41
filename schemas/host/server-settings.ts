import {
  clickhouseUrls,
  natsUrls,
  oneOf,
  readableFile,
  text,
  url,
  wholeNumber,
} from "./setting-types.ts";

/** Who connects to Postgres and NATS. `npm start` passes the settings on. */
const SERVER_READERS = ["ingress", "processors", "api", "tracker"] as const;

const anyText = text("a text", /./s);

/** Where the three servers are, how to log in to them, and the streams in NATS. */
export const SERVER_SETTINGS = {
  POSTGRES_URL: {
    type: url(["postgres", "postgresql"], "postgres://user:password@host:5432/database"),
    unset: "started by `npm start`",
    requiredBy: ["ingress", "processors", "api"],
    readBy: ["npm start", "ingress", "processors", "api", "tracker"],
    isSecret: true,
    meaning:
      "an existing Postgres database; `?sslmode=verify-full&sslrootcert=/path/ca.pem` checks its certificate",
  },
  POSTGRES_DIRECT_URL: {
    type: url(["postgres", "postgresql"], "postgres://user:password@host:5432/database"),
    unset: "POSTGRES_URL",
    readBy: ["tracker"],
    isSecret: true,
    meaning:
      "the same database without PgBouncer, for `migrate`: a migration may take longer than a pooled statement",
  },
  POSTGRES_PASSWORD: {
    type: anyText,
    unset: "the password in POSTGRES_URL",
    readBy: SERVER_READERS,
    isSecret: true,
    isReread: true,
    meaning:
      "password of the user in POSTGRES_URL; its file is read again for each new connection, so it may be changed while the processes run",
  },
  NATS_URL: {
    type: natsUrls,
    unset: "started by `npm start`",
    requiredBy: ["ingress", "processors", "api"],
    readBy: ["npm start", "ingress", "processors", "api", "tracker"],
    isSecret: true,
    meaning:
      "an existing NATS server with JetStream, or the servers of one cluster, all with the same user and password; tls:// refuses a server without TLS",
  },
  NATS_USER: {
    type: anyText,
    unset: "the user in NATS_URL",
    readBy: SERVER_READERS,
    meaning: "user that logs in to NATS with NATS_PASSWORD",
  },
  NATS_PASSWORD: {
    type: anyText,
    unset: "the password in NATS_URL",
    readBy: SERVER_READERS,
    isSecret: true,
    isReread: true,
    meaning: "password of NATS_USER; its file is read again for each new connection",
  },
  NATS_CREDS_FILE: {
    type: readableFile,
    unset: "no credentials",
    readBy: SERVER_READERS,
    meaning: "credentials (JWT and seed) that log in to NATS; read again for each new connection",
  },
  NATS_NKEY_FILE: {
    type: readableFile,
    unset: "no key",
    readBy: SERVER_READERS,
    meaning: "seed of the NKey that logs in to NATS; read again for each new connection",
  },
  NATS_CA_FILE: {
    type: readableFile,
    unset: "the authorities that Node.js knows",
    readBy: SERVER_READERS,
    meaning: "certificates (PEM) of the authority that signed the certificates of the NATS servers",
  },
  NATS_CERT_FILE: {
    type: readableFile,
    unset: "no client certificate",
    readBy: SERVER_READERS,
    meaning: "certificate (PEM) that the process shows to NATS",
  },
  NATS_KEY_FILE: {
    type: readableFile,
    unset: "no client certificate",
    readBy: SERVER_READERS,
    meaning: "private key (PEM) of NATS_CERT_FILE",
  },
  CLICKHOUSE_URL: {
    type: clickhouseUrls,
    unset: "started by `npm start`",
    requiredBy: ["processors", "api"],
    readBy: ["npm start", "processors", "api", "tracker"],
    isSecret: true,
    meaning:
      "an existing ClickHouse server; of a cluster (CLICKHOUSE_LAYOUT) one node or several, all with the same user, password and database",
  },
  CLICKHOUSE_READER_URL: {
    type: clickhouseUrls,
    unset: "CLICKHOUSE_URL",
    readBy: ["api"],
    isSecret: true,
    meaning: "the same database for reports and look-ups, by a user that may only read",
  },
  CLICKHOUSE_CA_FILE: {
    type: readableFile,
    unset: "the authorities that Node.js knows",
    readBy: ["processors", "api", "tracker"],
    meaning:
      "certificates (PEM) of the authority that signed the certificate of an https:// CLICKHOUSE_URL",
  },
  CLICKHOUSE_LAYOUT: {
    type: oneOf(["single", "cluster"]),
    default: "single",
    readBy: ["npm start", "processors", "api", "tracker"],
    meaning:
      "single: all rows are on one server; cluster: clicks are spread over the shards of CLICKHOUSE_CLUSTER, and every row has replicas. Chosen before the first `migrate`, never changed",
  },
  CLICKHOUSE_CLUSTER: {
    type: text("letters, digits, dashes and underscores, at most 64", /^[A-Za-z0-9_-]{1,64}$/),
    default: "tracker",
    readBy: ["processors", "api", "tracker"],
    meaning: "name of the cluster in `remote_servers` of the ClickHouse nodes",
  },
  NATS_PREFIX: {
    type: text("letters, digits, dots, dashes and underscores", /^[A-Za-z0-9_.-]*$/),
    default: "",
    readBy: ["ingress", "processors", "api", "tracker"],
    meaning:
      "put before every NATS subject and stream, so that several installations can share one server",
  },
  CLICK_LANES: {
    type: oneOf(["4", "8", "16", "32", "64"]),
    unset: "as it is; 4 in a new installation",
    readBy: ["tracker"],
    meaning:
      "number of click lanes, each with one writer at a time; the first `migrate` chooses it, and click ids contain the lane",
  },
  LANE_GROUPS: {
    type: oneOf(["1", "2", "4", "8", "16", "32", "64"]),
    default: "1",
    readBy: ["ingress", "processors", "api", "tracker"],
    meaning:
      "number of click streams that share the lanes, at most as many as there are lanes; the same for every process, and never changed once the streams exist",
  },
  NATS_REPLICAS: {
    type: wholeNumber({ min: 1, max: 5 }),
    unset: "number of NATS servers, at most 3",
    readBy: ["processors", "tracker"],
    meaning:
      "copies of the click stream; more are made by `migrate`, fewer only by `tracker streams set`",
  },
  CLICKS_STREAM_HOURS: {
    type: wholeNumber({ min: 1, max: 8_760, unit: "hours" }),
    default: "72",
    readBy: ["processors", "tracker"],
    meaning:
      "how long the click stream keeps clicks that are stored, to fill a restored ClickHouse again; `migrate` only raises it",
  },
  CLICKS_STREAM_BYTES: {
    type: wholeNumber({ min: 1_048_576, max: 100_000_000_000_000, unit: "bytes" }),
    unset: "64 GiB, or what the server can reserve of 16 GiB, 4 GiB or its own limit",
    readBy: ["processors", "tracker"],
    meaning:
      "size at which the click stream drops its oldest clicks, of all LANE_GROUPS streams together; `migrate` only raises it",
  },
} as const;
