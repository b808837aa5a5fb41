import { describeReceivers } from "../../newcomer/guide-tests.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startSystem } from "../../system/start-system.ts";

const env = { ALLOW_PRIVATE_DESTINATIONS: "1" };
const system = await forThisFile(startSystem({ isEmpty: true, env }));

describeReceivers(system, ["go"]);
