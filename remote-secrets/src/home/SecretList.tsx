import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { ErrorNotice, space, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { styled } from "styled-components";

import { liveSharesQuery } from "../data/secrets.ts";
import { SecretRowCard } from "../row/SecretRowCard.tsx";
import { useRowActions } from "../row/useRowActions.ts";

interface SecretListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly label: string;
}

const ignoreSelection = () => undefined;

/** A short list, without virtualisation or selection. */
export function SecretList({ vault, rows, label }: SecretListProps) {
  const { user } = usePortal();
  const actions = useRowActions(vault, ignoreSelection, null);
  const { data: shares = [] } = useQuery(liveSharesQuery(vault, user.userId, vault.getState().status));
  return (
    <Stack $gap={4}>
      <ErrorNotice error={actions.error} />
      <Rows aria-label={label}>
        {rows.map((row) => (
          <li key={row.secretId}>
            <SecretRowCard
              row={row}
              actions={actions.rowActions}
              shared={shares.some(({ secretId }) => secretId === row.secretId)}
              selected={null}
            />
          </li>
        ))}
      </Rows>
    </Stack>
  );
}

const Rows = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
`;
