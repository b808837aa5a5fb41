/** How many visits a table has, and how many of each class of offers. */
export class Tally {
  size = 0;
  readonly ofClass: Uint32Array;

  constructor(classes: number) {
    this.ofClass = new Uint32Array(classes);
  }

  add(offerClass: number, visits: number): void {
    this.size += visits;
    this.ofClass[offerClass] = (this.ofClass[offerClass] ?? 0) + visits;
  }
}
