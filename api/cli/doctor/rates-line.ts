import type { FxFeed } from "../../../schemas/postgres/fx-feed.ts";
import type { ReportLine } from "./report-line.ts";

const SET = "tracker fx-rates set USD=1.0842";

/** Whether amounts in other currencies can be converted (G221). */
export function ratesLine({ state, source, newest_day: day, error }: FxFeed): ReportLine {
  const subject = "reference rates";
  switch (state) {
    case "ok":
      return { state: "ok", subject, text: `${source} was read, its newest day is ${day ?? ""}` };
    case "off":
      return {
        state: "ok",
        subject,
        text: `the feed is off (FX_FEED_URL=off): rates are those that staff enter, by ${SET} or POST /fx-rates`,
      };
    case "failed": {
      const text =
        `${source} cannot be read (${error}): let the processors reach it, name a mirror by FX_FEED_URL, or set FX_FEED_URL=off and ` +
        `enter rates by ${SET}. Reports in currencies without a rate are answered 503.`;
      return { state: "warn", subject, text };
    }
    case "unread": {
      const text =
        "the feed has not been read yet: see whether a process with the role schedule runs.";
      return { state: "warn", subject, text };
    }
  }
}
