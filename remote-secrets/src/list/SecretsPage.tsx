import { pageStorage, usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import {
  Button,
  ButtonLink,
  Loading,
  markVerbatim,
  media,
  Notice,
  Page,
  renderVerbatim,
  Skeleton,
  Stack,
  visuallyHidden,
} from "@relicario/shared/ui";
import { Lock, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useSecrets } from "../data/secrets.ts";
import { WaitingUploads } from "../uploads/WaitingUploads.tsx";
import { LoadedList } from "./LoadedList.tsx";
import { ReadFailureNotice } from "../notices/ReadFailureNotice.tsx";

/**
 * Session storage key of the id of the secret that a link asked to recover. The host writes it
 * before sign-in.
 */
const recoverIdKey = "recoverId";

/** Route `/secrets`: all secrets, and the trash. */
export default function SecretsPage() {
  const { t } = useTranslation(["beta-home", "file-upload"]);
  const secrets = useSecrets();
  const loading = secrets.status === "loading" || (secrets.status === "ready" && !secrets.layoutSettled);
  useEffect(
    () => () => {
      pageStorage.session.removeItem(recoverIdKey);
    },
    [],
  );
  return (
    <Page
      width="wide"
      title={t("list.title")}
      actions={
        <>
          {secrets.status === "ready" && secrets.vaultStatus === "unlocked" ? (
            <LockButton vault={secrets.vault} />
          ) : (
            loading && <LockButtonPlaceholder />
          )}
          <AddLink to="/add-secret" icon={<Plus aria-hidden />}>
            {t("list.add_action")}
          </AddLink>
        </>
      }
    >
      {loading && <ListSkeleton />}
      {!loading && <ReadFailureNotice failure={secrets.failure} />}
      {!loading && secrets.status === "ready" && (
        <>
          <LinkedSecret rows={secrets.rows} />
          <WaitingUploads vault={secrets.vault} status={secrets.vaultStatus} />
          <LoadedList
            vault={secrets.vault}
            rows={secrets.rows}
            locked={secrets.vaultStatus === "locked"}
            openingProgress={secrets.openingProgress}
          />
        </>
      )}
    </Page>
  );
}

function LockButton({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("beta-home");
  return (
    <IconOnPhone tone="quiet" icon={<Lock aria-hidden />} onClick={() => void vault.lock()}>
      {t("list.lock_action")}
    </IconOnPhone>
  );
}

/** Reserves the place of the lock button until the vault's state is known. */
function LockButtonPlaceholder() {
  const { t } = useTranslation("beta-home");
  return (
    <InvisibleButton tone="quiet" icon={<Lock aria-hidden />}>
      {t("list.lock_action")}
    </InvisibleButton>
  );
}

/** Offers to recover the secret that a link named before sign-in, once the list contains it. */
function LinkedSecret({ rows }: { readonly rows: readonly SecretRow[] }) {
  const { t } = useTranslation("beta-home");
  const { navigate } = usePortal();
  const [recoverId] = useState(() => pageStorage.session.getItem(recoverIdKey));
  const row = rows.find(({ secretId }) => secretId === recoverId);
  if (row === undefined) return null;
  const { label, secretId } = row;
  return (
    <Notice
      title={t("linked.title")}
      actions={
        <Button
          size="small"
          onClick={() => {
            navigate(`/provide-image-recovery?${new URLSearchParams({ secret: secretId }).toString()}`);
          }}
        >
          {t("linked.recover_action")}
        </Button>
      }
    >
      {label === null || label.title === ""
        ? t("linked.locked_body")
        : renderVerbatim(t("linked.body", { title: markVerbatim(label.title) }))}
    </Notice>
  );
}

function ListSkeleton() {
  const { t } = useTranslation("beta-home");
  return (
    <Loading label={t("list.loading_status")}>
      <Stack $gap={4}>
        <Skeleton height="74px" />
        <Skeleton height="44px" width="104px" />
        <Stack $gap={3}>
          {[0, 1, 2, 3].map((index) => (
            <Skeleton key={index} height="78px" />
          ))}
        </Stack>
      </Stack>
    </Loading>
  );
}

/** Hidden on phones, because the bottom bar has the same action. */
const AddLink = styled(ButtonLink)`
  ${media.mobile} {
    display: none;
  }
`;

/**
 * An icon next to the title on phones. The negative margin offsets the icon's width, so that the
 * title stays on one line.
 */
const IconOnPhone = styled(Button)`
  ${media.mobile} {
    flex: none;
    width: 44px;
    max-width: none; /* the default is a percentage, here of zero */
    margin-left: -44px;
    padding: 0;
    & > span {
      ${visuallyHidden}
    }
  }
`;

const InvisibleButton = styled(IconOnPhone)`
  visibility: hidden;
`;
