import { request } from "node:http";
import { connect } from "node:net";
import { authorizationOf } from "./clickhouse-config.ts";

export interface ClickhouseAccess {
  /** `http://host:port` */
  address: string;
  user: string;
  password: string;
}

const ANSWER_CHARS_MAX = 64 * 1024;
const ANSWER_WAIT_MS = 10_000;

/**
 * Runs one statement and returns the answer. Each call opens and closes its own connection, because the engine waits 5 s for open
 * connections before it shuts down.
 *
 * @throws {Error} with the message of a server that refuses, or with the socket's error if the server is unreachable.
 */
export function askClickhouse(access: ClickhouseAccess, statement: string): Promise<string> {
  const headers = { authorization: authorizationOf(access.user, access.password) };
  return new Promise((resolve, reject) => {
    const call = request(
      access.address,
      { method: "POST", headers, agent: false, timeout: ANSWER_WAIT_MS },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text = (text + chunk).slice(0, ANSWER_CHARS_MAX);
        });
        response.once("error", reject);
        response.once("end", () => {
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${response.statusCode ?? 0}: ${text.slice(0, 500)}`));
        });
      },
    );
    call.once("timeout", () => call.destroy(new Error(`no answer within ${ANSWER_WAIT_MS} ms`)));
    call.once("error", reject);
    call.end(statement);
  });
}

/** False only if the system refuses the connection. Slow answers count as listening. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.setTimeout(ANSWER_WAIT_MS, () => finish(true));
    socket.once("connect", () => finish(true));
    socket.once("error", (error) => finish(!("code" in error && error.code === "ECONNREFUSED")));
  });
}
