import type { PersonRecord, Vault } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { Checkbox, FieldError, TextField } from "@relicario/shared/forms";
import { Button, ButtonLink, ErrorNotice, Notice, Stack } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { UserSearch } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";
import { ChangedPerson } from "../people/ChangedPerson.tsx";

interface PersonFieldProps {
  readonly vault: Vault;
  readonly value: PersonRecord | null;
  readonly onChange: (person: PersonRecord | null) => void;
  /** Whether the person says that the words were compared. */
  readonly compared: boolean;
  readonly onComparedChange: (compared: boolean) => void;
  /** Nobody has that name: a link for signed-in people goes instead. */
  readonly onUseLink: () => void;
  readonly disabled: boolean;
  readonly error: string | null;
}

/** One person by user name: their eight words, and how well this account knows their keys. */
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
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);
  const startRequest = (): AbortSignal => {
    abortController.current?.abort();
    abortController.current = new AbortController();
    return abortController.current.signal;
  };
  const findPerson = async (name: string, signal: AbortSignal): Promise<PersonRecord> => {
    const person = await vault.people.find(name, { signal });
    if (signal.aborted) throw new PortalError("cancelled"); // another name stands in the field by now
    return person;
  };
  const find = useMutation({ mutationFn: (name: string) => findPerson(name, startRequest()), onSuccess: onChange });
  const pin = useMutation({
    mutationFn: async (person: PersonRecord) => {
      const signal = startRequest();
      await vault.people.pin(person);
      return findPerson(person.userName, signal);
    },
    onSuccess: onChange,
  });
  const notFound = isPortalError(find.error, "not_found");
  const search = () => {
    onChange(null);
    if (userName.trim() !== "") find.mutate(userName.trim());
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
          abortController.current?.abort();
          onChange(null);
          find.reset();
          pin.reset();
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault(); // it would send the form
          search();
        }}
        action={
          <Button
            tone="quiet"
            disabled={disabled}
            pending={find.isPending}
            icon={<UserSearch aria-hidden />}
            onClick={search}
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
        <ErrorNotice error={find.error ?? pin.error} />
      )}
      {value !== null && value.trust === "changed" && (
        <ChangedPerson
          person={value}
          title={t("person.changed_title", { name: value.userName })}
          body={t("person.changed_body", { name: value.userName })}
          trustLabel={t("person.pin_action")}
          pending={pin.isPending}
          onTrust={() => pin.mutate(value)}
        />
      )}
      {value !== null && value.trust !== "changed" && (
        <Stack $gap={3}>
          <Notice
            role="status"
            tone={value.trust === "compared" ? "success" : "info"}
            title={t(`person.${value.trust}_title`, { name: value.userName })}
          >
            {t(`person.${value.trust}_body`, { name: value.userName })}
          </Notice>
          <WordList words={value.safetyWords} label={t("person.words_label", { name: value.userName })} />
          {value.blocked && <FieldError>{t("person.blocked_error", { name: value.userName })}</FieldError>}
          <Checkbox
            label={t("person.compared_label", { name: value.userName })}
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
