export type Answer = {
  readonly status: number;
  /** In the order in which they arrived. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

/** Value of the only header of this name, "" when there is none. @throws when there are several. */
export function headerOf({ headers }: Answer, name: string): string {
  const values = headers.filter(([known]) => known.toLowerCase() === name.toLowerCase());
  if (values.length > 1) throw new Error(`several headers ${name}: ${JSON.stringify(values)}`);
  return values[0]?.[1] ?? "";
}

export function cookiesOf({ headers }: Answer): string[] {
  return headers.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value);
}

/** The click id in the cookie `trk_cid`, "" when there is none. */
export function clickIdOf(answer: Answer): string {
  const cookie = cookiesOf(answer).find((text) => text.startsWith("trk_cid="));
  return /^trk_cid=([0-9a-f]{32});/.exec(cookie ?? "")?.[1] ?? "";
}

/** `302 <location>`, `200 page`, or status and body. */
export function lineOf(answer: Answer): string {
  const { status, body } = answer;
  if (status === 302) return `302 ${headerOf(answer, "location")}`;
  return status === 200 && body.startsWith("<!doctype html>") ? "200 page" : `${status} ${body}`;
}
