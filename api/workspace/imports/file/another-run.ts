/** Another run of the same import has written rows since this one read the record, so this one must not continue. */
export class AnotherRunError extends Error {
  override readonly name = "AnotherRunError";

  constructor() {
    super("another run of this import has written rows");
  }
}
