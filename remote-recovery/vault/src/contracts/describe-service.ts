import { describeAuthority } from "./service/authority.ts";
import { describeDeviceLinks } from "./service/device-links.ts";
import { describeKeyring } from "./service/keyring.ts";
import { describeRequests } from "./service/requests.ts";
import { describeReset } from "./service/reset.ts";
import { describeSecrets } from "./service/secrets.ts";
import { describeShares } from "./service/shares.ts";
import { describeStages } from "./service/stages.ts";
import type { ServiceUnderTest } from "./service/service-under-test.ts";
import { describeUploads } from "./service/uploads.ts";

const resources = [
  describeAuthority,
  describeKeyring,
  describeStages,
  describeSecrets,
  describeUploads,
  describeDeviceLinks,
  describeShares,
  describeRequests,
  describeReset,
];

/** Tests what the vault relies on, against the service that `startService` starts. */
export function describeService(name: string, startService: () => Promise<ServiceUnderTest>): void {
  jest.setTimeout(300_000); // for busy machines

  describe(name, () => {
    let service: ServiceUnderTest;
    beforeAll(async () => {
      service = await startService();
    });
    afterEach(() => {
      service.setClockOffset(0);
    });
    afterAll(() => service.stop());

    for (const describeResource of resources) describeResource(() => service);
  });
}
