/** Loaded before each test file: fast-check takes its choices from SEED, and its errors name it. */
import fc from "fast-check";
import { SEED } from "./seed.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
