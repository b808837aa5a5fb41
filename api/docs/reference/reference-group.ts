export type ReferenceResource = {
  /** The last part of the page's address. */
  readonly page: string;
  readonly title: string;
  readonly about: string;
  /** The page has the operations whose path begins with one of these, unless another page has a longer beginning of it. */
  readonly paths: readonly string[];
};

export type ReferenceGroup = {
  readonly title: string;
  readonly resources: readonly ReferenceResource[];
};
