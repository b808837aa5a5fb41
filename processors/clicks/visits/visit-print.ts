/** Who clicked on which offer: the three numbers of G87. */
export type Visit = {
  readonly offerId: number;
  readonly affiliateId: number;
  /** Keyed hash of at most 52 bits. */
  readonly visitor: number;
};

/**
 * 60 bits that identify a visit. 16 bits are not stored: they are implied by the place of an entry. With 100 million visits, the expected
 * number of visits that share their bits with another visit is 0.004.
 */
export class VisitPrint {
  /** Bits 0 to 31, from the highest. The first 16 are the implied ones. */
  high = 0;
  /** Bits 16 to 47, as a signed number. */
  key = 0;
  /** Bits 48 to 59. */
  rest = 0;

  /** Makes this the print of a visit. */
  set(offerId: number, affiliateId: number, visitor: number): void {
    const low = mix(offerId, affiliateId, visitor, 0x9e37_79b1);
    const high = mix(visitor / 0x1_0000_0000, affiliateId, offerId ^ low, 0x85eb_ca77);
    this.high = high;
    this.key = (high << 16) | (low >>> 16);
    this.rest = (low >>> 4) & 0xfff;
  }
}

/** 32 bits that depend on every bit of the low 32 bits of the three numbers. */
function mix(a: number, b: number, c: number, seed: number): number {
  let bits = stir(seed ^ (a >>> 0));
  bits = stir(bits ^ (b >>> 0));
  bits = stir(bits ^ (c >>> 0));
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function stir(word: number): number {
  let bits = Math.imul(word, 0xcc9e_2d51);
  bits = Math.imul((bits ^ (bits >>> 15)) >>> 0, 0x1b87_3593);
  return bits ^ (bits >>> 13);
}
