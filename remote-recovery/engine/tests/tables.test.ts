import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { computeBucketTable, generateTablesSource } from "../tables/generate.ts";
import { bucketVector } from "./vectors.ts";

describe("the tables", () => {
  it("match the generator's output, whose hashes the profile fixes", () => {
    expect(readFileSync(fileURLToPath(new URL("../assembly/tables.ts", import.meta.url)), "utf8")).toBe(
      generateTablesSource(),
    );
  });

  it("contain the published buckets", () => {
    expect(computeBucketTable()).toEqual(bucketVector);
  });
});
