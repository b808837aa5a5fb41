import { expect, test } from "vitest";
import { caseFiles, ruleFiles } from "../../deploy/alert-rules.ts";
import { hasPromtool, promtool, WITHOUT_PROMTOOL } from "../../deploy/promtool.ts";

test.skipIf(!hasPromtool)(
  `promtool finds that each case of an alert fires or keeps quiet as it says${WITHOUT_PROMTOOL}`,
  () => {
    expect(caseFiles.length).toBe(ruleFiles.length - 1);
    const { status, text } = promtool("test", "rules", ...caseFiles);
    expect(status, text).toBe(0);
  },
);
