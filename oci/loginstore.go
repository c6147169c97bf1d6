package oci

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
)

// keep stores credentials in the first file that pulls read, or with its helper.
func (c *Client) keep(ctx context.Context, host, user, password string) error {
	files := authFiles()
	if len(files) == 0 {
		return fail(KindLocal, "set HOME or DOCKER_CONFIG", "there is no folder to keep the login in")
	}
	return changeAuthFile(ctx, files[0], func(f authFile, auths *members) error {
		key, entry := hostKey(host), json.RawMessage("{}")
		if helper := f.helper(key); helper != "" {
			if err := c.helper(helper).store(ctx, key, user, password); err != nil {
				return err
			}
		} else {
			entry = dockerEntry(user, password)
			c.warn("the password lies in %s as it is; a credential helper (credsStore there) would protect it", f.name)
		}
		for _, old := range auths.ofHost(host) {
			if old != key {
				auths.remove(old)
			}
		}
		auths.set(key, entry)
		return nil
	})
}

// dockerEntry is how Docker writes an entry: user and password in one field.
func dockerEntry(user, password string) json.RawMessage {
	return json.RawMessage(`{"auth":"` + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) + `"}`)
}

// forget removes a host's entries from one file and its helper.
func (c *Client) forget(ctx context.Context, file, host string) (found bool, err error) {
	f, err := readAuthFile(file)
	if err != nil {
		return false, err
	}
	key := hostKey(host)
	if helper := f.helper(key); helper != "" {
		err := c.helper(helper).erase(ctx, key)
		if err != nil && !errors.Is(err, errNoCredentials) {
			return false, err
		}
		found = err == nil
	}
	if len(f.auths().ofHost(host)) == 0 {
		return found, nil
	}
	return true, changeAuthFile(ctx, file, func(_ authFile, auths *members) error {
		for _, key := range auths.ofHost(host) {
			auths.remove(key)
		}
		return nil
	})
}
