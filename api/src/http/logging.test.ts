import { randomBytes } from "node:crypto";

import { uploadPath } from "@relicario/shared/api";
import { sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { buildSecret, confirmChange } from "../testing/person.ts";
import { readMails } from "../testing/outbox.ts";
import { buildFinish, buildLargeContent, sha256B64u } from "../testing/upload.ts";
import { startService } from "../testing/service.ts";
import { answerRequest, createRequest, createShare, newPublicId, buildOpening } from "../testing/sharing.ts";

const createSentinel = (): string => randomBytes(12).toString("hex");

describe("the log", () => {
  it("holds no token, body, query, path or header, whatever is answered", async () => {
    const service = await startService({ LOG_LEVEL: "debug" });
    try {
      const planted = new Map<string, string>();
      const plant = (name: string, value = createSentinel()): string => {
        planted.set(name, value);
        return value;
      };
      const person = await service.signIn(plant("subject"));
      plant("session token", person.token);
      plant("session token's signature", person.token.split(".")[2] ?? "");
      plant("account", person.userId);

      const { body } = buildSecret(person);
      for (const [name, value] of Object.entries({
        label: body.label,
        ticket: body.ticket,
        content: body.content,
        state: body.keyring.state,
        sig: body.keyring.sig,
      }))
        plant(name, value);
      plant("secret id", body.secret_db_id);
      await service.call("POST", "/secrets/store", person.token, { body });
      confirmChange(person, body.keyring);
      await service.call("POST", "/secrets/store", person.token, {
        body: { ...body, [plant("unknown member")]: plant("its value") },
      });
      await service.call("POST", "/secrets/store", person.token, {
        body: { ...body, ticket: plant("broken ticket", "*".repeat(40)) },
      });
      await service.call("POST", "/user/me", person.token, {
        body: { contact_email: `${plant("address")}@example.org` },
      });
      await service.call("POST", "/user/send-validate-email", person.token);
      const [mail] = await readMails(service);
      const { nonce = "" } = Object.fromEntries(
        new URLSearchParams(/validate-email#(\S+)/.exec(mail?.text ?? "")?.[1] ?? ""),
      );
      await service.call(
        "GET",
        `/user/validate-contact-email?value=${plant("asked address", createSentinel())}%40example.org&nonce=${plant("nonce", nonce)}`,
        person.token,
      );

      const large = buildLargeContent({ bytes: 3_000 });
      const started = await service.call("POST", "/v2/secrets/secret", person.token, await large.start());
      const upload = plant("upload id", String(started.body["upload_id"]));
      plant("id of an upload's secret", large.id);
      plant("digest of a part", sha256B64u(large.content));
      await service.call(
        "POST",
        uploadPath(upload),
        person.token,
        await large.part(1, { sha256: plant("wrong digest", sha256B64u(Buffer.from(createSentinel()))) }),
      );
      await service.call("POST", uploadPath(upload), person.token, await large.part(1));
      const published = buildFinish(person, large);
      plant("ticket of an upload", published.ticket);
      await service.call("PUT", uploadPath(upload), person.token, { body: published });
      confirmChange(person, published.keyring);
      await service.call("POST", "/v2/secrets/get-secret", person.token, {
        body: { secret_db_id: large.id },
        headers: { "if-range": plant("tag") },
      });
      await service.call("GET", `/secrets/store?since=${plant("query")}`, person.token);
      await service.call("GET", `/share/${plant("share id", randomBytes(16).toString("base64url"))}`, null);
      await service.call(
        "DELETE",
        `/share${plant("share id in one piece", randomBytes(16).toString("base64url"))}`,
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
        plant(`${name} of a share`, value);
      const claim = plant("claim", newPublicId());
      await service.call("POST", `/share/get-secret/${share.shareId}`, reader.token);
      await service.call("POST", "/share/get-secret", reader.token, {
        body: {
          ...buildOpening(share, claim),
          pass_auth: plant("wrong password", randomBytes(32).toString("base64url")),
        },
      });
      const { download } = (
        await service.call("POST", "/share/get-secret", reader.token, { body: buildOpening(share, claim) })
      ).body as unknown as { download: { token: string } };
      await service.call("POST", "/share/content", reader.token, {
        body: { token: plant("download token", download.token) },
      });
      await service.call("POST", "/reports/share", null, {
        body: { share_id: share.shareId, reason: "other", message: plant("what a report says") },
      });
      await service.call("DELETE", `/share${share.shareId}`, person.token);
      const request = await createRequest(service, person);
      for (const [name, value] of Object.entries({
        requestId: request.requestId,
        linkAuth: request.linkAuth,
        document: request.body.document,
      }))
        plant(`${name} of a request`, value);
      const answer = await answerRequest(service, request, 500);
      for (const [name, value] of Object.entries({ id: answer.id, token: answer.token, ticket: answer.finish.ticket }))
        plant(`${name} of an answer`, value);
      await service.call("POST", "/requests/collect", person.token, { body: { request_id: request.requestId } });
      await service.call("GET", `/users/${plant("user name", `u${createSentinel()}`)}/key`, person.token);
      await service.call("GET", "/user/me", plant("wrong token", `${createSentinel()}.${createSentinel()}.x`));
      await service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: { token: plant("access token") },
      });
      await service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: `{"token":"${plant("half a body")}`,
        headers: { "content-type": "application/json" },
      });
      await service.call("GET", "/healthz", null, {
        headers: { cookie: plant("cookie"), "user-agent": plant("user agent"), "x-forwarded-for": "198.51.100.77" },
      });
      planted.set("address of the network", "198.51.100.77");

      // Now the database itself complains, and drivers put statements and values into their
      // messages.
      await service.app.services.db.execute(sql`alter table secrets rename column favorite to starred`);
      const failed = await service.call("PATCH", "/secrets/favorite", person.token, {
        body: { secret_db_id: plant("id in a failing statement", uuidv7()), favorite: true },
      });
      expect(failed).toMatchObject({ status: 500, body: { code: "internal_error" } });
      expect(Object.keys(failed.body).sort()).toEqual(["code", "request_id", "status", "title", "type"]);

      const log = service.log();
      expect(log.split("\n").length).toBeGreaterThan(10);
      expect(log).toContain('"route":"/secrets/store"');
      expect(log).toContain(String(failed.body["request_id"]));
      for (const [name, value] of planted) {
        const forms = [
          value,
          Buffer.from(value).toString("base64"),
          Buffer.from(value).toString("hex"),
          encodeURIComponent(value),
        ];
        for (const form of forms) expect([name, log.includes(form)]).toEqual([name, false]);
      }
    } finally {
      await service.stop();
    }
  });

  it("would be caught by the test above when it held one", async () => {
    const service = await startService();
    try {
      const planted = createSentinel();
      service.app.http.log.info({ planted }, "planted");
      expect(service.log().includes(planted)).toBe(true);
    } finally {
      await service.stop();
    }
  });
});
