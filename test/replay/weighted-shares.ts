import type { Outcome } from "./outcomes.ts";

/** The greatest distance of a count from its expected value: five standard deviations, which chance exceeds once in a million. */
const DEVIATIONS_MAX = 5;

/** One sentence for each offer that weighted smart links chose far more or less often than their weights imply. */
export function unlikelyShares(
  choices: readonly { readonly right: readonly Outcome[]; readonly chosenId: number }[],
): string[] {
  const counts = new Map<number, { expected: number; variance: number; chosen: number }>();
  for (const { right, chosenId } of choices) {
    for (const { offerId, chance } of right) {
      if (chance === undefined) continue;
      const { expected, variance, chosen } = counts.get(offerId) ?? {
        expected: 0,
        variance: 0,
        chosen: 0,
      };
      counts.set(offerId, {
        expected: expected + chance,
        variance: variance + chance * (1 - chance),
        chosen: chosen + (chosenId === offerId ? 1 : 0),
      });
    }
  }
  return [...counts].flatMap(([offerId, { expected, variance, chosen }]) => {
    const isLikely = Math.abs(chosen - expected) <= DEVIATIONS_MAX * Math.sqrt(variance) + 1;
    if (isLikely) return [];
    return [
      `offer ${offerId} was chosen ${chosen} times by weight, of about ${expected.toFixed(0)} expected`,
    ];
  });
}
