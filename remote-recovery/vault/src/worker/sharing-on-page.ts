import type { OpenedContent, ShownImage, Vault } from "@relicario/shared/contract";
import type * as Comlink from "comlink";

import { requirePicture, requireShown, type Shown } from "../shown-image.ts";
import type { VaultWorkerApi } from "./vault-worker-api.ts";

export interface SharingParts {
  /**
   * A member of the contract that is an act of the worker, with the same arguments and the same
   * answer.
   */
  readonly inWorker: <Given extends readonly unknown[], Answer>(
    act: (worker: Comlink.Remote<VaultWorkerApi>) => (...given: Given) => Promise<Answer>,
  ) => (...given: Given) => Promise<Answer>;
  /** What a page may do with a content that the worker has opened under this name. */
  readonly held: (
    openedId: string,
    opened: Pick<OpenedContent, "content" | "mime">,
  ) => Promise<Pick<OpenedContent, "save" | "putAway">>;
  /** Of the portal: links begin with it. */
  readonly origin: () => string;
}

/**
 * The members of the contract about sharing and asking, over the vault's worker. Handles are
 * exchanged for pictures before anything reaches it.
 */
export function sharingOnPage({
  inWorker,
  held,
  origin,
}: SharingParts): Pick<Vault, "shares" | "people" | "received" | "requests"> {
  const acts = {
    create: inWorker((worker) => worker.createShare),
    showLink: inWorker((worker) => worker.showShareLink),
    update: inWorker((worker) => worker.updateShareContent),
    open: inWorker((worker) => worker.openReceived),
    ask: inWorker((worker) => worker.askForSecret),
    showRequestLink: inWorker((worker) => worker.showRequestLink),
    openAnswer: inWorker((worker) => worker.openAnswer),
  };
  return {
    shares: Object.freeze<Vault["shares"]>({
      create: async (request, opener, options) => {
        const picture = request.picture === null ? null : requirePicture(request.picture).picture;
        const { shareId, link } = await acts.create({ ...request, picture }, requireShown(opener), options);
        return { shareId, link: link === null ? null : `${origin()}${link}` };
      },
      all: inWorker((worker) => worker.allShares),
      ofSecret: inWorker((worker) => worker.sharesOfSecret),
      showLink: async (shareId, opener, options) =>
        `${origin()}${await acts.showLink(shareId, shownOrNone(opener), options)}`,
      change: inWorker((worker) => worker.changeShare),
      updateContent: async (shareId, opener, options) => acts.update(shareId, requireShown(opener), options),
      revoke: inWorker((worker) => worker.revokeShare),
    }),
    people: Object.freeze<Vault["people"]>({
      find: inWorker((worker) => worker.findPerson),
      list: inWorker((worker) => worker.listPeople),
      pin: inWorker((worker) => worker.pinPerson),
      setCompared: inWorker((worker) => worker.setCompared),
      setBlocked: inWorker((worker) => worker.setBlocked),
      mine: inWorker((worker) => worker.ownWords),
    }),
    received: Object.freeze<Vault["received"]>({
      list: inWorker((worker) => worker.receivedShares),
      open: async (shareId, opener, options) => {
        const { openedId, ...share } = await acts.open(shareId, shownOrNone(opener), options);
        return { ...share, ...(await held(openedId, share)) };
      },
    }),
    requests: Object.freeze<Vault["requests"]>({
      create: async (request, opener, options) => {
        const { requestId, link } = await acts.ask(request, shownOrNone(opener), options);
        return { requestId, link: `${origin()}${link}` };
      },
      list: inWorker((worker) => worker.listAsked),
      showLink: async (requestId, opener, options) =>
        `${origin()}${await acts.showRequestLink(requestId, shownOrNone(opener), options)}`,
      open: async (requestId, opener, options) => {
        const { openedId, ...answer } = await acts.openAnswer(requestId, shownOrNone(opener), options);
        return { ...answer, ...(await held(openedId, answer)) };
      },
      collect: inWorker((worker) => worker.markCollected),
      drop: inWorker((worker) => worker.dropRequest),
    }),
  };
}

function shownOrNone(opener: ShownImage | null): Shown | null {
  return opener === null ? null : requireShown(opener);
}
