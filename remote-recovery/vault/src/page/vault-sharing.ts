import type { OpenedContent, OpenerHandle, Vault } from "@relicario/shared/contract";
import type * as Comlink from "comlink";

import { requirePresentedPicture, requirePresented, type PresentedOpener } from "../presented-opener.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";

export interface SharingDeps {
  /**
   * A member of the contract that is an act of the worker, with the same arguments and the same
   * answer.
   */
  readonly callWorker: <Arguments extends readonly unknown[], Result>(
    operation: (worker: Comlink.Remote<VaultWorkerApi>) => (...args: Arguments) => Promise<Result>,
  ) => (...args: Arguments) => Promise<Result>;
  /** What a page may do with a content that the worker has opened under this name. */
  readonly bindOpenedContent: (
    openedId: string,
    opened: Pick<OpenedContent, "content" | "mime">,
  ) => Promise<Pick<OpenedContent, "save" | "dispose">>;
  /** Of the portal: links begin with it. */
  readonly origin: () => string;
}

/**
 * The members of the contract about sharing and asking, over the vault's worker. Handles are
 * exchanged for pictures before anything reaches it.
 */
export function createVaultSharing({
  callWorker,
  bindOpenedContent,
  origin,
}: SharingDeps): Pick<Vault, "shares" | "people" | "received" | "requests"> {
  const operations = {
    create: callWorker((worker) => worker.createShare),
    getLink: callWorker((worker) => worker.revealShareLink),
    update: callWorker((worker) => worker.updateShareContent),
    open: callWorker((worker) => worker.openReceived),
    ask: callWorker((worker) => worker.createRequest),
    getRequestLink: callWorker((worker) => worker.revealRequestLink),
    openAnswer: callWorker((worker) => worker.openAnswer),
  };
  return {
    shares: Object.freeze<Vault["shares"]>({
      create: async (request, opener, options) => {
        const picture = request.picture === null ? null : requirePresentedPicture(request.picture).picture;
        const { shareId, link } = await operations.create({ ...request, picture }, requirePresented(opener), options);
        return { shareId, link: link === null ? null : `${origin()}${link}` };
      },
      list: callWorker((worker) => worker.listShares),
      listForSecret: callWorker((worker) => worker.listSharesOfSecret),
      getLink: async (shareId, opener, options) =>
        `${origin()}${await operations.getLink(shareId, requirePresentedOrNull(opener), options)}`,
      change: callWorker((worker) => worker.changeShare),
      updateContent: async (shareId, opener, options) => operations.update(shareId, requirePresented(opener), options),
      revoke: callWorker((worker) => worker.revokeShare),
    }),
    people: Object.freeze<Vault["people"]>({
      find: callWorker((worker) => worker.findPerson),
      list: callWorker((worker) => worker.listPeople),
      pin: callWorker((worker) => worker.pinPerson),
      setCompared: callWorker((worker) => worker.setCompared),
      setBlocked: callWorker((worker) => worker.setBlocked),
      getOwnSafetyWords: callWorker((worker) => worker.readOwnWords),
    }),
    received: Object.freeze<Vault["received"]>({
      list: callWorker((worker) => worker.listReceivedShares),
      open: async (shareId, opener, options) => {
        const { openedId, ...share } = await operations.open(shareId, requirePresentedOrNull(opener), options);
        return { ...share, ...(await bindOpenedContent(openedId, share)) };
      },
    }),
    requests: Object.freeze<Vault["requests"]>({
      create: async (request, opener, options) => {
        const { requestId, link } = await operations.ask(request, requirePresentedOrNull(opener), options);
        return { requestId, link: `${origin()}${link}` };
      },
      list: callWorker((worker) => worker.listRequests),
      getLink: async (requestId, opener, options) =>
        `${origin()}${await operations.getRequestLink(requestId, requirePresentedOrNull(opener), options)}`,
      open: async (requestId, opener, options) => {
        const { openedId, ...answer } = await operations.openAnswer(requestId, requirePresentedOrNull(opener), options);
        return { ...answer, ...(await bindOpenedContent(openedId, answer)) };
      },
      collect: callWorker((worker) => worker.markCollected),
      drop: callWorker((worker) => worker.dropRequest),
    }),
  };
}

function requirePresentedOrNull(opener: OpenerHandle | null): PresentedOpener | null {
  return opener === null ? null : requirePresented(opener);
}
