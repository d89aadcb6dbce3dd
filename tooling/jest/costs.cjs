/** Records the processor time of each test file for tooling/src/test/jest.ts. */
const { appendFileSync } = require("node:fs");

const report = process.env.RELICARIO_TEST_COSTS;
if (report !== undefined) {
  const start = process.cpuUsage();
  afterAll(() => {
    const { user, system } = process.cpuUsage(start);
    appendFileSync(
      report,
      `${JSON.stringify({ file: expect.getState().testPath, processorSeconds: (user + system) / 1e6 })}\n`,
    );
  });
}
