import type { PersonRecord, Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import {
  Checkbox,
  FieldError,
  NumberedWords,
  RequestedOpener,
  runUnlocked,
  TextField,
  useVaultOperation,
} from "@relicario/shared/forms";
import { Button, ButtonLink, markVerbatim, Notice, renderVerbatim, Stack } from "@relicario/shared/ui";
import { UserSearch } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { ChangedPerson } from "../people/ChangedPerson.tsx";

interface PersonFieldProps {
  readonly vault: Vault;
  readonly value: PersonRecord | null;
  readonly onChange: (person: PersonRecord | null) => void;
  /** Whether the person says that they compared the safety words. */
  readonly compared: boolean;
  readonly onComparedChange: (compared: boolean) => void;
  /** Called to make a link for signed-in people instead, if no account has that name. */
  readonly onUseLink: () => void;
  readonly disabled: boolean;
  readonly error: string | null;
}

/**
 * Finds a recipient by user name. Shows the recipient's safety words, and whether the recipient's
 * keys are pinned.
 */
export function PersonField({
  vault,
  value,
  onChange,
  compared,
  onComparedChange,
  onUseLink,
  disabled,
  error,
}: PersonFieldProps) {
  const { t } = useTranslation("beta-share");
  const [userName, setUserName] = useState("");
  const operation = useVaultOperation({ vault });
  const { running, error: failure, start, cancel } = operation;
  const findPerson = (name: string) => {
    start({ run: (options) => vault.people.find(name, options), onDone: onChange });
  };
  const pinPerson = (person: PersonRecord) => {
    start({
      run: runUnlocked(vault, async (options) => {
        await vault.people.pin(person);
        return vault.people.find(person.userName, options);
      }),
      onDone: onChange,
    });
  };
  const notFound = isPortalError(failure, "not_found");
  const searchTypedName = () => {
    onChange(null);
    if (userName.trim() !== "") findPerson(userName.trim());
  };
  return (
    <Stack $gap={4}>
      <TextField
        label={t("person.name_label")}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        disabled={disabled}
        error={error}
        value={userName}
        onChange={(event) => {
          setUserName(event.target.value);
          onChange(null);
          cancel(); // the name in the field has changed meanwhile
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault(); // Enter would submit the form
          searchTypedName();
        }}
        action={
          <Button
            tone="quiet"
            disabled={disabled}
            pending={running}
            icon={<UserSearch aria-hidden />}
            onClick={searchTypedName}
          >
            {t("person.find_action")}
          </Button>
        }
      />
      {notFound ? (
        <Notice
          role="status"
          tone="warn"
          title={t("person.nobody_title")}
          actions={
            <Button tone="quiet" size="small" disabled={disabled} onClick={onUseLink}>
              {t("person.link_instead_action")}
            </Button>
          }
        >
          {t("person.nobody_body")}
        </Notice>
      ) : (
        <RequestedOpener vault={vault} operation={operation} />
      )}
      {value !== null && value.trust === "changed" && (
        <ChangedPerson
          person={value}
          title={t("person.changed_title", { name: markVerbatim(value.userName) })}
          body={t("person.changed_body", { name: markVerbatim(value.userName) })}
          trustLabel={t("person.pin_action")}
          pending={running}
          onTrust={() => {
            pinPerson(value);
          }}
        />
      )}
      {value !== null && value.trust !== "changed" && (
        <Stack $gap={3}>
          <Notice
            role="status"
            tone={value.trust === "compared" ? "success" : "info"}
            title={t(`person.${value.trust}_title`, { name: markVerbatim(value.userName) })}
          >
            {renderVerbatim(t(`person.${value.trust}_body`, { name: markVerbatim(value.userName) }))}
          </Notice>
          <NumberedWords words={value.safetyWords} label={t("person.words_label", { name: value.userName })} />
          {value.blocked && (
            <FieldError>{renderVerbatim(t("person.blocked_error", { name: markVerbatim(value.userName) }))}</FieldError>
          )}
          <Checkbox
            label={renderVerbatim(t("person.compared_label", { name: markVerbatim(value.userName) }))}
            checked={compared}
            disabled={disabled}
            onChange={(event) => {
              onComparedChange(event.target.checked);
            }}
          />
        </Stack>
      )}
      <div>
        <ButtonLink tone="plain" size="small" to="/people">
          {t("person.people_action")}
        </ButtonLink>
      </div>
    </Stack>
  );
}
