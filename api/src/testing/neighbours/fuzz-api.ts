/**
 * Tests the served OpenAPI document: `npm run test:fuzz-api`. schemathesis (PyPI; `st` on the path,
 * or SCHEMATHESIS) calls the operations of a real service, also in sequences that the responses
 * suggest: first as the owner of secrets, shares and requests, then as their recipient. After a
 * call has ended the session, the next one gets another (fuzz_hooks.py). Fails when a response is a
 * 5xx, or outside its schema, status codes or media types, or when the account no longer answers.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { confirmChange, createPerson } from "../person.ts";
import { rateLimitNames } from "../../http/rate-limits.ts";
import { buildRequest, buildShare } from "../sharing.ts";
import { storeSmallSecrets } from "./attacks.ts";
import { createCaller } from "./caller.ts";
import { startTestDeployment } from "./test-deployment.ts";

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
/** For what schemathesis stores. */
const folder = mkdtempSync(join(tmpdir(), "relicario-fuzz-"));
const secondsOfSide = Number(process.argv[2] ?? 240);

const deployment = await startTestDeployment({
  RATE_LIMITS: JSON.stringify(Object.fromEntries(rateLimitNames.map((name) => [name, 1_000_000]))),
});
const [serviceOrigin] = deployment.serviceOrigins;
try {
  const [ownerToken, recipientToken] = [await deployment.signIn("owner"), await deployment.signIn("recipient")];
  const owner = createPerson("owner", ownerToken);
  const recipient = createPerson("recipient", recipientToken);
  const caller = createCaller(deployment.origin, "127.0.0.4", ownerToken);
  const recipientCaller = createCaller(deployment.origin, "127.0.0.5", recipientToken);
  await storeSmallSecrets({ caller: recipientCaller, person: recipient }, 1); // recipients need keys
  const [secretId = ""] = await storeSmallSecrets({ caller, person: owner }, 3);
  for (const [path, build] of [
    ["/share", () => buildShare(owner, secretId, { recipient: recipient.userId }).body],
    ["/requests", () => buildRequest(owner).body],
  ] as const) {
    const body = build(); // built after the previous change is confirmed
    const { status, body: responseBody } = await caller.callJson("POST", path, body);
    if (status < 200 || status > 299) throw new Error(`${path} answered ${String(status)} ${responseBody.toString()}`);
    confirmChange(owner, body.keyring);
  }
  caller.close();
  recipientCaller.close();
  let passed = 0;
  let failed = 0;
  for (const side of ["owner", "recipient"]) {
    const claims = (): Readonly<Record<string, unknown>> => ({ sid: randomUUID() });
    const tokens = createServer(({ url }, response) => {
      const token =
        url === "/session" ? deployment.signIn(side, claims()) : deployment.createAccessToken(side, claims());
      token.then(
        (text) => response.end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    }).listen(0, "127.0.0.1");
    await once(tokens, "listening");
    const { port } = tokens.address() as AddressInfo;
    console.log(`As ${side}:`);
    const codes: (number | null)[] = [];
    for (const phases of ["examples,coverage,fuzzing", "stateful"]) {
      const schemathesis = spawn(
        process.env["SCHEMATHESIS"] ?? "st",
        [
          ...["run", `${serviceOrigin}/openapi.json`, "--url", serviceOrigin, "--checks", checks.join(",")],
          ...["--phases", phases, "--max-time", String(secondsOfSide / 2)],
          ...["--seed", "48", "--request-timeout", "30", "--max-failures", "20"],
        ],
        {
          stdio: "inherit",
          cwd: folder,
          env: {
            ...process.env,
            PYTHONPATH: import.meta.dirname,
            PYTHONDONTWRITEBYTECODE: "1",
            SCHEMATHESIS_HOOKS: "fuzz_hooks",
            TOKENS_URL: `http://127.0.0.1:${String(port)}`,
          },
        },
      );
      const [code] = (await once(schemathesis, "exit")) as [number | null, string | null];
      codes.push(code);
    }
    tokens.close();
    const sideCaller = createCaller(deployment.origin, "127.0.0.6", await deployment.signIn(side, claims()));
    const { status } = await sideCaller.call("/user/me");
    sideCaller.close();
    if (status !== 200) console.log(`/user/me of ${side} answered ${String(status)}`);
    if (codes.every((code) => code === 0) && status === 200) passed += 1;
    else failed += 1;
  }
  console.log(`${String(passed)} passed, ${String(failed)} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await deployment.stop();
  rmSync(folder, { recursive: true, force: true });
}
