import type { DataFormat, QueryParams } from "@clickhouse/client";
import type { ClickhouseEditor } from "./connect.ts";

/**
 * The same client for one request. When `signal` is aborted, its queries end here and on the server, and it accepts no more.
 */
export function abortable(clickhouse: ClickhouseEditor, signal: AbortSignal): ClickhouseEditor {
  return {
    cluster: clickhouse.cluster,
    command: (params) => clickhouse.command(params),
    query: async <Format extends DataFormat = "JSON">(
      params: QueryParams & { readonly format?: Format },
    ) => {
      signal.throwIfAborted();
      const { abort_signal: own } = params;
      const answer = await clickhouse.query<Format>({
        ...params,
        abort_signal: own === undefined ? signal : AbortSignal.any([own, signal]),
      });
      // From the first byte of the answer on, the client no longer listens to the signal.
      if (signal.aborted) answer.close();
      else signal.addEventListener("abort", () => answer.close(), { once: true });
      return answer;
    },
  };
}
