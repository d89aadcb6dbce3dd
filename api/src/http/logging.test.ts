import { randomBytes } from "node:crypto";

import { uploadPath } from "@relicario/shared/api";
import { sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { metricsToken } from "../testing/metrics.ts";
import { buildSecret, confirmChange } from "../testing/person.ts";
import { readMails } from "../testing/outbox.ts";
import { buildFinish, buildLargeContent, sha256B64u } from "../testing/upload.ts";
import { startService } from "../testing/service.ts";
import { answerRequest, createRequest, createShare, createPublicId, buildOpening } from "../testing/sharing.ts";

const createSentinel = (): string => randomBytes(12).toString("hex");

describe("the log", () => {
  it("contains no token, body, query, path or header, for any response, and neither do the metrics", async () => {
    const service = await startService({ LOG_LEVEL: "debug", METRICS_TOKEN: metricsToken });
    try {
      const plantedValues = new Map([["metrics token", metricsToken]]);
      const plantValue = (name: string, value = createSentinel()): string => {
        plantedValues.set(name, value);
        return value;
      };
      const person = await service.signIn(plantValue("subject"));
      plantValue("session token", person.token);
      plantValue("session token's signature", person.token.split(".")[2] ?? "");
      plantValue("account", person.userId);

      const { body } = buildSecret(person);
      for (const [name, value] of Object.entries({
        label: body.label,
        ticket: body.ticket,
        content: body.content,
        state: body.keyring.state,
        sig: body.keyring.sig,
      }))
        plantValue(name, value);
      plantValue("secret id", body.secret_db_id);
      await service.call("POST", "/secrets/store", person.token, { body });
      confirmChange(person, body.keyring);
      await service.call("POST", "/secrets/store", person.token, {
        body: { ...body, [plantValue("unknown member")]: plantValue("its value") },
      });
      await service.call("POST", "/secrets/store", person.token, {
        body: { ...body, ticket: plantValue("broken ticket", "*".repeat(40)) },
      });
      await service.call("POST", "/user/me", person.token, {
        body: { contact_email: `${plantValue("address")}@example.org` },
      });
      await service.call("POST", "/user/send-validate-email", person.token);
      const [mail] = await readMails(service);
      const { nonce = "" } = Object.fromEntries(
        new URLSearchParams(/validate-email#(\S+)/.exec(mail?.text ?? "")?.[1] ?? ""),
      );
      await service.call(
        "GET",
        `/user/validate-contact-email?value=${plantValue("asked address", createSentinel())}%40example.org&nonce=${plantValue("nonce", nonce)}`,
        person.token,
      );

      const largeContent = buildLargeContent({ bytes: 3_000 });
      const startResponse = await service.call(
        "POST",
        "/v2/secrets/secret",
        person.token,
        await largeContent.buildStartForm(),
      );
      const upload = plantValue("upload id", String(startResponse.body["upload_id"]));
      plantValue("id of an upload's secret", largeContent.id);
      plantValue("digest of a part", sha256B64u(largeContent.content));
      await service.call(
        "POST",
        uploadPath(upload),
        person.token,
        await largeContent.buildPartForm(1, {
          sha256: plantValue("wrong digest", sha256B64u(Buffer.from(createSentinel()))),
        }),
      );
      await service.call("POST", uploadPath(upload), person.token, await largeContent.buildPartForm(1));
      const finishBody = buildFinish(person, largeContent);
      plantValue("ticket of an upload", finishBody.ticket);
      await service.call("PUT", uploadPath(upload), person.token, { body: finishBody });
      confirmChange(person, finishBody.keyring);
      await service.call("POST", "/v2/secrets/get-secret", person.token, {
        body: { secret_db_id: largeContent.id },
        headers: { "if-range": plantValue("tag") },
      });
      await service.call("GET", `/secrets/store?since=${plantValue("query")}`, person.token);
      await service.call("GET", `/share/${plantValue("share id", randomBytes(16).toString("base64url"))}`, null);
      await service.call(
        "DELETE",
        `/share${plantValue("share id in one piece", randomBytes(16).toString("base64url"))}`,
        person.token,
      );
      const reader = await service.signIn();
      const share = await createShare(service, person, body.secret_db_id, { audience: "signed_in", password: true });
      for (const [name, value] of Object.entries({
        shareId: share.shareId,
        linkAuth: share.linkAuth,
        passAuth: share.passAuth,
        ticket: share.body.ticket,
        digest: String(share.body.link_auth_sha256),
      }))
        plantValue(`${name} of a share`, value);
      const claim = plantValue("claim", createPublicId());
      await service.call("POST", `/share/get-secret/${share.shareId}`, reader.token);
      await service.call("POST", "/share/get-secret", reader.token, {
        body: {
          ...buildOpening(share, claim),
          pass_auth: plantValue("wrong password", randomBytes(32).toString("base64url")),
        },
      });
      const { download } = (
        await service.call("POST", "/share/get-secret", reader.token, { body: buildOpening(share, claim) })
      ).body as unknown as { download: { token: string } };
      await service.call("POST", "/share/content", reader.token, {
        body: { token: plantValue("download token", download.token) },
      });
      await service.call("POST", "/reports/share", null, {
        body: { share_id: share.shareId, reason: "other", message: plantValue("what a report says") },
      });
      await service.call("DELETE", `/share${share.shareId}`, person.token);
      const request = await createRequest(service, person);
      for (const [name, value] of Object.entries({
        requestId: request.requestId,
        linkAuth: request.linkAuth,
        document: request.body.document,
      }))
        plantValue(`${name} of a request`, value);
      const answer = await answerRequest(service, request, 500);
      for (const [name, value] of Object.entries({
        id: answer.id,
        token: answer.token,
        ticket: answer.finishBody.ticket,
      }))
        plantValue(`${name} of an answer`, value);
      await service.call("POST", "/requests/collect", person.token, { body: { request_id: request.requestId } });
      await service.call("GET", `/users/${plantValue("user name", `u${createSentinel()}`)}/key`, person.token);
      await service.call("GET", "/user/me", plantValue("wrong token", `${createSentinel()}.${createSentinel()}.x`));
      await service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: { token: plantValue("access token") },
      });
      await service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: `{"token":"${plantValue("half a body")}`,
        headers: { "content-type": "application/json" },
      });
      await service.call("GET", "/healthz", null, {
        headers: {
          cookie: plantValue("cookie"),
          "user-agent": plantValue("user agent"),
          tracestate: `relicario=${plantValue("state of a trace")}`,
          "x-forwarded-for": "198.51.100.77",
        },
      });
      plantedValues.set("address of the network", "198.51.100.77");

      await service.call("GET", `/${plantValue("unknown path")}?${plantValue("its query")}`, null);
      await service.call("GET", `/vendors/${plantValue("part of a path")}`, null);

      // Makes the database itself fail: drivers put statements and values into messages.
      await service.app.services.db.execute(sql`alter table secrets rename column favorite to starred`);
      const failedResponse = await service.call("PATCH", "/secrets/favorite", person.token, {
        body: { secret_db_id: plantValue("id in a failing statement", uuidv7()), favorite: true },
      });
      expect(failedResponse).toMatchObject({ status: 500, body: { code: "internal_error" } });
      expect(Object.keys(failedResponse.body).sort()).toEqual(["code", "request_id", "status", "title", "type"]);

      const log = service.readLog();
      expect(log.split("\n").length).toBeGreaterThan(10);
      expect(log).toContain('"route":"/secrets/store"');
      expect(log).toContain(String(failedResponse.body["request_id"]));
      const { text: metrics } = await service.call("GET", "/metrics", metricsToken);
      expect(metrics).toContain('http_route="/secrets/store"');
      for (const [name, value] of plantedValues) {
        const encodedForms = [
          value,
          Buffer.from(value).toString("base64"),
          Buffer.from(value).toString("hex"),
          encodeURIComponent(value),
        ];
        for (const encodedForm of encodedForms)
          expect([name, log.includes(encodedForm), metrics.includes(encodedForm)]).toEqual([name, false, false]);
      }
    } finally {
      await service.stop();
    }
  });

  it("contains a value that is logged on purpose, so that the test for omitted values can fail", async () => {
    const service = await startService();
    try {
      const plantedValue = createSentinel();
      service.app.http.log.info({ planted: plantedValue }, "planted");
      expect(service.readLog().includes(plantedValue)).toBe(true);
    } finally {
      await service.stop();
    }
  });
});
