import { buildJwe } from "@relicario/api/testing/person";
import { newPublicId } from "@relicario/api/testing/sharing";
import { deviceLinkMinutes } from "@relicario/shared/api";

import type { DeviceLinkCalls } from "../../device-links/link-calls.ts";
import { serviceOn } from "../../service.ts";
import { expectRefusal, expectRefusals, minute, type ServiceUnderTest } from "./under-test.ts";

const letter = (): string => buildJwe({ typ: "relicario-device" });

export function describeDeviceLinks(service: () => ServiceUnderTest): void {
  const twoDevices = async (): Promise<{ laptop: DeviceLinkCalls; phone: DeviceLinkCalls; id: string }> => {
    const account = await service().signIn();
    return {
      laptop: account.calls.deviceLinks,
      phone: serviceOn(await account.signInAgain()).deviceLinks,
      id: newPublicId(),
    };
  };

  describe("a mailbox between two devices", () => {
    it("carries what one asks to the other, and its answer back", async () => {
      const { laptop, phone, id } = await twoDevices();
      const [asked, answered] = [letter(), letter()];
      await laptop.fill(id, asked);
      await laptop.fill(id, asked);
      expect(await laptop.readAnswer(id)).toBeNull();
      expect(await phone.read(id)).toBe(asked);
      await phone.answer(id, answered);
      await phone.answer(id, answered);
      expect(await laptop.readAnswer(id)).toBe(answered);
      expect(await laptop.readAnswer(id)).toBe(answered);
    });

    it("is filled once and answered once", async () => {
      const { laptop, phone, id } = await twoDevices();
      await laptop.fill(id, letter());
      await expectRefusal(laptop.fill(id, letter()), "id_taken");
      await phone.answer(id, letter());
      await expectRefusal(phone.answer(id, letter()), "conflict");
    });

    it("tells the sign-ins apart: the one that asks does not answer, and no other reads the answer", async () => {
      const { laptop, phone, id } = await twoDevices();
      const asked = letter();
      await laptop.fill(id, asked);
      await expectRefusal(phone.fill(id, asked), "id_taken");
      await expectRefusal(laptop.read(id), "forbidden");
      await expectRefusal(laptop.answer(id, letter()), "forbidden");
      await expectRefusal(phone.readAnswer(id), "forbidden");
    });

    it("is its account's alone, and there for a few minutes", async () => {
      const { laptop, phone, id } = await twoDevices();
      await expectRefusals([phone.read(id), laptop.readAnswer(id), phone.answer(id, letter())], "not_found");
      await laptop.fill(id, letter());
      const stranger = (await service().signIn()).calls.deviceLinks;
      await expectRefusal(stranger.read(id), "not_found");
      await expectRefusal(stranger.answer(id, letter()), "not_found");
      service().goAhead(deviceLinkMinutes * minute);
      await expectRefusals([phone.read(id), laptop.readAnswer(id), phone.answer(id, letter())], "not_found");
    });
  });
}
