import fc from "fast-check";
import { SEED } from "../system/seed.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
