import { usePortal, type PersonRecord, type Vault } from "@relicario/shared/contract";
import { Checkbox, NumberedWords, RequestedOpener, runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { isPortalError } from "@relicario/shared/errors";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  markVerbatim,
  renderVerbatim,
  SmallText,
  space,
  SpacedRow,
  Stack,
  Verbatim,
} from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, RefreshCw } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { receivedKeys } from "../data/received.ts";
import { ChangedPerson } from "./ChangedPerson.tsx";
import { TrustBadge } from "./TrustBadge.tsx";

interface PersonCardProps {
  readonly vault: Vault;
  readonly person: PersonRecord & { readonly pinnedAt: string };
}

/**
 * A person with pinned keys: safety words, whether they were compared, and blocking. A button
 * queries the directory for this name only, because a query of all names would tell the service
 * whom this account knows.
 */
export function PersonCard({ vault, person }: PersonCardProps) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const { userId, userName, trust, blocked, safetyWords, pinnedAt } = person;
  const { operation, change } = usePersonChange(vault);
  const lookup = useMutation({ mutationFn: () => vault.people.find(userName) });
  const foundPerson = lookup.data ?? null;
  const isMissing = isPortalError(lookup.error, "not_found");
  const handleTrust = (candidate: PersonRecord) => {
    change(() => vault.people.pin(candidate), lookup.reset);
  };
  return (
    <Card as="article" aria-label={userName}>
      <Stack $gap={3}>
        <NameLine>
          <h3>
            <Verbatim>{userName}</Verbatim>
          </h3>
          <TrustBadge trust={trust} blocked={blocked} />
        </NameLine>
        <SmallText>{t("people.since_body", { when: getFormats(language).date(pinnedAt) })}</SmallText>
        {foundPerson?.trust === "changed" ? (
          <ChangedPerson
            person={foundPerson}
            title={t("sender.changed_title", { name: markVerbatim(userName) })}
            body={t("sender.changed_body", { name: markVerbatim(userName) })}
            trustLabel={t("sender.trust_action")}
            pending={operation.running}
            onTrust={() => handleTrust(foundPerson)}
          />
        ) : (
          <>
            <NumberedWords words={safetyWords} label={t("sender.words_label", { name: userName })} />
            <Checkbox
              label={renderVerbatim(t("people.compared_label", { name: markVerbatim(userName) }))}
              checked={trust === "compared"}
              disabled={operation.running}
              onChange={(event) => {
                const { checked } = event.target;
                change(() => vault.people.setCompared(userId, checked));
              }}
            />
          </>
        )}
        {(isMissing || (foundPerson !== null && foundPerson.trust !== "changed")) && (
          <SmallText role="status">{t(isMissing ? "people.gone_status" : "people.same_status")}</SmallText>
        )}
        {lookup.error !== null && !isMissing && <ErrorNotice error={lookup.error} />}
        <RequestedOpener vault={vault} operation={operation} />
        <SpacedRow>
          {foundPerson?.trust !== "changed" && (
            <Button
              tone="quiet"
              size="small"
              icon={<RefreshCw aria-hidden />}
              pending={lookup.isPending}
              onClick={() => lookup.mutate()}
            >
              {t("people.check_action")}
            </Button>
          )}
          <Button
            tone="quiet"
            size="small"
            icon={<Ban aria-hidden />}
            pending={operation.running}
            onClick={() => change(() => vault.people.setBlocked(person, !blocked))}
          >
            {t(blocked ? "people.unblock_action" : "people.block_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** Runs one change of the book at a time. Refetches the list, even after a failure. */
function usePersonChange(vault: Vault) {
  const { user } = usePortal();
  const client = useQueryClient();
  const operation = useVaultOperation({ vault });
  const change = (run: () => Promise<void>, onDone: () => void = () => undefined) => {
    operation.start({
      run: runUnlocked(vault, run),
      onDone,
      onSettled: () => void client.invalidateQueries({ queryKey: receivedKeys.all(user.userId) }),
    });
  };
  return { operation, change };
}

const NameLine = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
  overflow-wrap: anywhere;
`;
