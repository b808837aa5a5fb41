import { request } from "node:http";

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
 * @throws {Error} with the server's message if it refuses, or with the socket's error if it is unreachable.
 */
export function askClickhouse(access: ClickhouseAccess, statement: string): Promise<string> {
  const headers = { "X-ClickHouse-User": access.user, "X-ClickHouse-Key": access.password };
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
