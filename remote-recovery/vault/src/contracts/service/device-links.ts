import { buildJwe } from "@relicario/api/testing/person";
import { createPublicId } from "@relicario/api/testing/sharing";
import { deviceLinkLifetimeMinutes } from "@relicario/shared/api";

import type { DeviceLinkCalls } from "../../service/link-calls.ts";
import { createService } from "../../service/service.ts";
import { expectRefusal, expectRefusals, minuteMs, type ServiceUnderTest } from "./service-under-test.ts";

const buildMessage = (): string => buildJwe({ typ: "relicario-device" });

export function describeDeviceLinks(service: () => ServiceUnderTest): void {
  const signInTwoDevices = async (): Promise<{ laptop: DeviceLinkCalls; phone: DeviceLinkCalls; id: string }> => {
    const account = await service().signIn();
    return {
      laptop: account.calls.deviceLinks,
      phone: createService(await account.signInOtherDevice()).deviceLinks,
      id: createPublicId(),
    };
  };

  describe("a mailbox between two devices", () => {
    it("carries a request to the other device, and the answer back", async () => {
      const { laptop, phone, id } = await signInTwoDevices();
      const [request, answer] = [buildMessage(), buildMessage()];
      await laptop.fill(id, request);
      await laptop.fill(id, request);
      expect(await laptop.readAnswer(id)).toBeNull();
      expect(await phone.read(id)).toBe(request);
      await phone.answer(id, answer);
      await phone.answer(id, answer);
      expect(await laptop.readAnswer(id)).toBe(answer);
      expect(await laptop.readAnswer(id)).toBe(answer);
    });

    it("accepts one request and one answer", async () => {
      const { laptop, phone, id } = await signInTwoDevices();
      await laptop.fill(id, buildMessage());
      await expectRefusal(laptop.fill(id, buildMessage()), "id_taken");
      await phone.answer(id, buildMessage());
      await expectRefusal(phone.answer(id, buildMessage()), "conflict");
    });

    it("separates sign-ins: the requesting sign-in cannot answer, and only it can read the answer", async () => {
      const { laptop, phone, id } = await signInTwoDevices();
      const request = buildMessage();
      await laptop.fill(id, request);
      await expectRefusal(phone.fill(id, request), "id_taken");
      await expectRefusal(laptop.read(id), "forbidden");
      await expectRefusal(laptop.answer(id, buildMessage()), "forbidden");
      await expectRefusal(phone.readAnswer(id), "forbidden");
    });

    it("belongs to one account, and expires after some minutes", async () => {
      const { laptop, phone, id } = await signInTwoDevices();
      await expectRefusals([phone.read(id), laptop.readAnswer(id), phone.answer(id, buildMessage())], "not_found");
      await laptop.fill(id, buildMessage());
      const stranger = (await service().signIn()).calls.deviceLinks;
      await expectRefusal(stranger.read(id), "not_found");
      await expectRefusal(stranger.answer(id, buildMessage()), "not_found");
      service().setClockOffset(deviceLinkLifetimeMinutes * minuteMs);
      await expectRefusals([phone.read(id), laptop.readAnswer(id), phone.answer(id, buildMessage())], "not_found");
    });
  });
}
