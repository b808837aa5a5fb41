/** The pages of the guide in the order of the sidebar. A page is the file `pages/<name>.md`; `start` is the page at `/docs`. */
export const GUIDE_GROUPS: readonly {
  readonly title: string;
  readonly pages: readonly string[];
}[] = [
  { title: "Start", pages: ["start"] },
  { title: "Send visitors", pages: ["links", "sub-ids", "impressions", "server-clicks"] },
  {
    title: "Report conversions",
    pages: ["postback", "pixels", "script", "coupons", "currencies", "test-mode"],
  },
  { title: "Receive conversions", pages: ["macros", "partner-postbacks", "webhooks"] },
  { title: "Money", pages: ["month-end"] },
  { title: "Rules", pages: ["fraud-checks", "visibility"] },
];

/** The address of a page on the api listener. */
export function pathOfPage(name: string): string {
  return name === "start" ? "/docs" : `/docs/${name}`;
}
