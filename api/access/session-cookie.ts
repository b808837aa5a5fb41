import { isLoopbackHost } from "../../schemas/net/loopback-host.ts";
import { ApiError } from "../operation/errors.ts";

const NAME = "trk_console";
const MAX_AGE_SEC = 14 * 86_400;

/**
 * The cookie that holds a session's secret. Cookies know no ports, so on http, where there is no `__Host-` prefix, its path keeps it from
 * the tracking domain on the same host.
 */
export class SessionCookie {
  readonly name: string;
  readonly #attributes: string;
  readonly #isSecure: boolean;
  readonly #isLoopback: boolean;

  constructor(apiUrl: string) {
    const { protocol, hostname } = new URL(apiUrl);
    this.#isSecure = protocol === "https:";
    this.#isLoopback = isLoopbackHost(hostname);
    this.name = this.#isSecure ? `__Host-${NAME}` : NAME;
    this.#attributes = this.#isSecure
      ? "Path=/; Secure; HttpOnly; SameSite=Strict"
      : "Path=/api/v1; HttpOnly; SameSite=Strict";
  }

  /**
   * The value in a Cookie header. Undefined if the header has no cookie of this name, or several: a program on another port may have set
   * one.
   */
  read(header: string | undefined): string | undefined {
    const values = (header ?? "")
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${this.name}=`))
      .map((pair) => pair.slice(this.name.length + 1));
    return values.length === 1 ? values[0] : undefined;
  }

  set(token: string): string {
    return `${this.name}=${token}; Max-Age=${MAX_AGE_SEC}; ${this.#attributes}`;
  }

  clear(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`;
  }

  /** Why nobody may sign in at this Host: over plain http a cookie can be read on its way. Undefined if it is safe. */
  refusalAt(host: string | undefined): ApiError | undefined {
    if (this.#isSecure) return undefined;
    const url = `http://${host ?? ""}`;
    const isLocal = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
    if (this.#isLoopback && isLocal) return undefined;
    return new ApiError("forbidden", "sign-in needs https: set API_URL to an https address");
  }
}
