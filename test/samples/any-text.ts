import fc from "fast-check";

/** Any text, including control characters and unpaired surrogates. Mostly ASCII, because the grammars under test are. */
export function anyText(lengthMax = 60): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 0x7f }), weight: 4 },
    { arbitrary: fc.integer({ min: 0x80, max: 0xffff }), weight: 1 },
  );
  return fc.array(unit, { maxLength: lengthMax }).map((units) => String.fromCharCode(...units));
}
