type Present<Body> = { [Key in keyof Body]?: Exclude<Body[Key], undefined> };

/** The fields that a PATCH body contains. null is a value; absent fields are left out. */
export function presentFields<Body extends object>(body: Body): Present<Body> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only entries that are undefined are taken away
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== undefined),
  ) as Present<Body>;
}
