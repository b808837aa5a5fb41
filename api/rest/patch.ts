type Present<Body> = { [Key in keyof Body]?: Exclude<Body[Key], undefined> };

/** The fields that a PATCH body has: null is a value, absent is not. */
export function presentFields<Body extends object>(body: Body): Present<Body> {
  // Entries that are undefined are the only ones taken away.
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== undefined),
  ) as Present<Body>;
}
