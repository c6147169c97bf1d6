package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const (
	system  = "it changes the system"
	users   = "it changes users of the system"
	screens = "it works in a terminal outside of the sandbox"
)

var (
	looks = row{operands: reads}.program()
	// careful is for what only shows something, but has options that do more.
	careful = row{guarded: true, options: "a,all q,quiet l,full L no-pager n,lines= plain no-legend p,property= value t,type= state= installed upgradable manual-installed json=? versions cask formula v,verbose k f r names-only"}.program()
)

// systemPrograms look at the machine, or change it.
var systemPrograms = map[string]program{
	"ps": shows, "top": row{options: "n= d= p= u= U= o=", guarded: true}.top(), "htop": editor, "pgrep": shows, "pidof": shows, "pstree": shows, "lsof": shows, "fuser": row{risk: permission.RiskPrivileged, why: "it may end processes", operands: reads}.program(), "ss": row{guarded: true, options: "t u l n p a x 4 6 s e m i o r H O w K! D=> F=< N=! tcp udp listening numeric processes all summary no-header"}.program(), "netstat": shows, "vmstat": shows, "iostat": shows, "mpstat": shows,
	"kill": kill, "pkill": privilege("it ends processes by their name"), "killall": privilege("it ends processes by their name"), "skill": privilege("it ends processes by their name"), "xkill": privilege("it ends processes"), "renice": privilege("it changes other processes"),
	"uname": onlyPrints, "whoami": onlyPrints, "id": onlyPrints, "groups": onlyPrints, "logname": onlyPrints, "tty": onlyPrints, "arch": onlyPrints, "nproc": onlyPrints, "lscpu": shows, "lsb_release": shows, "uptime": onlyPrints, "free": shows, "who": shows, "w": shows, "last": shows, "locale": shows, "getconf": onlyPrints, "lsblk": shows, "lspci": shows, "lsusb": shows, "lsmod": shows, "blkid": shows, "sw_vers": onlyPrints, "hostid": onlyPrints, "printenv": onlyPrints, "getent": shows, "ipcs": shows, "nvidia-smi": careful, "sensors": shows, "man": careful, "info": careful, "apropos": shows, "whatis": shows, "tldr": shows, "cksfv": looks, "acpi": shows, "numactl": row{risk: permission.RiskOpaque, why: "it runs another command"}.program(),
	"hostname": oneIsASet("it names the machine"), "domainname": oneIsASet("it names the machine"), "hostnamectl": oneIsASet(system), "timedatectl": oneIsASet("it sets the clock of the machine"), "localectl": oneIsASet(system), "loginctl": oneIsASet(system),
	"ifconfig": oneIsASet(system), "route": oneIsASet(system), "arp": oneIsASet(system), "ip": ip, "iw": privilege(system),
	"apt": packages("list show search policy depends rdepends madison changelog", "update"), "apt-get": packages("check changelog", "update download source"), "apt-cache": careful, "apt-file": packages("search list find", "update"), "dpkg": row{risk: permission.RiskPrivileged, why: system}.asks("-l --list -L --listfiles -s --status -S --search -p -W --print-architecture --version -I --info -c --contents"), "dpkg-query": shows, "rpm": row{risk: permission.RiskPrivileged, why: system}.asks("-q -qa -qi -ql -qf --version"), "yum": packages("list info search repolist provides", ""), "dnf": packages("list info search repolist provides", ""), "brew": packages("list info search config doctor deps outdated leaves", "update fetch"), "snap": packages("list info find version", ""), "pacman": privilege(system), "apk": packages("info list search version policy", "update"), "zypper": packages("search info", ""), "flatpak": packages("list info search", ""), "nix": row{risk: permission.RiskOpaque, why: "it runs what its expression says"}.program(), "nix-shell": row{risk: permission.RiskOpaque, why: "it runs what its expression says"}.program(), "port": privilege(system), "choco": privilege(system), "winget": privilege(system),
	"systemctl": packages("status list-units list-unit-files is-active is-enabled is-failed show cat list-timers list-dependencies list-sockets get-default", ""), "service": service, "journalctl": row{guarded: true, options: "u,unit= n,lines=? S,since= U,until= f,follow e,pager-end x,catalog b,boot=? k,dmesg p,priority= r,reverse o,output= no-pager g,grep= a,all q,quiet user system list-boots disk-usage t,identifier= utc no-hostname"}.program(), "dmesg": row{guarded: true, options: "T,ctime H,human w,follow l,level= f,facility= k,kernel u,userspace x,decode t,notime L,color=? since= until= e,reltime r,raw J,json"}.program(), "launchctl": packages("list print", ""), "initctl": privilege(system), "update-rc.d": privilege(system),
	"mount": noWords(system), "umount": privilege(system), "losetup": noWords(system), "swapon": privilege(system), "swapoff": privilege(system), "mkfs": privilege("it overwrites a device"), "mkswap": privilege("it overwrites a device"), "fsck": privilege(system), "fdisk": privilege("it changes a device"), "parted": privilege("it changes a device"), "wipefs": privilege("it overwrites a device"), "hdparm": privilege("it changes a device"), "cryptsetup": privilege("it changes a device"), "mkfs.ext4": privilege("it overwrites a device"), "mkfs.xfs": privilege("it overwrites a device"), "mkfs.vfat": privilege("it overwrites a device"), "sgdisk": privilege("it changes a device"), "lvm": privilege("it changes a device"), "diskutil": privilege("it changes a device"),
	"crontab": row{risk: permission.RiskPrivileged, why: "it makes commands run later"}.asks("-l"), "at": privilege("it makes commands run later"), "batch": privilege("it makes commands run later"), "atq": shows, "systemd-run": privilege(system),
	"useradd": privilege(users), "userdel": privilege(users), "usermod": privilege(users), "adduser": privilege(users), "deluser": privilege(users), "groupadd": privilege(users), "groupdel": privilege(users), "groupmod": privilege(users), "passwd": privilege(users), "chpasswd": privilege(users), "chsh": privilege(users), "chfn": privilege(users), "visudo": privilege(users), "vipw": privilege(users), "gpasswd": privilege(users), "newgrp": privilege(users), "dscl": privilege(users),
	"reboot": privilege("it stops the machine"), "shutdown": privilege("it stops the machine"), "halt": privilege("it stops the machine"), "poweroff": privilege("it stops the machine"), "init": privilege("it stops the machine"), "telinit": privilege("it stops the machine"),
	"iptables": privilege(system), "ip6tables": privilege(system), "nft": privilege(system), "ufw": privilege(system), "firewall-cmd": privilege(system), "modprobe": privilege(system), "insmod": privilege(system), "rmmod": privilege(system), "sysctl": sysctl, "setcap": privilege(system), "getcap": looks, "setfacl": privilege("it changes who may do what with files"), "getfacl": looks, "chattr": privilege("it changes who may do what with files"), "lsattr": looks, "setenforce": privilege(system), "getenforce": onlyPrints, "update-alternatives": privilege(system), "ldconfig": privilege(system), "dconf": privilege("it changes settings of the person"), "gsettings": privilege("it changes settings of the person"), "defaults": privilege("it changes settings of the person"), "csrutil": privilege(system), "spctl": privilege(system), "hwclock": privilege("it sets the clock of the machine"), "ntpdate": privilege("it sets the clock of the machine"), "unshare": privilege(system), "nsenter": privilege(system), "capsh": privilege(system), "bpftool": privilege(system), "debugfs": privilege(system), "tcpdump": privilege("it listens to the network"), "tshark": privilege("it listens to the network"),
	"tmux": row{risk: permission.RiskPrivileged, why: screens}.asks("-V"), "screen": row{risk: permission.RiskPrivileged, why: screens}.asks("-ls -list -v --version"), "expect": row{risk: permission.RiskOpaque, why: inline}.program(), "dbus-send": privilege(screens), "gdbus": privilege(screens), "busctl": privilege(screens), "notify-send": privilege(screens), "xdotool": privilege(screens), "wmctrl": privilege(screens), "open": privilege("it opens a program of the person"), "xdg-open": privilege("it opens a program of the person"), "code": privilege("it opens a program of the person"), "xclip": privilege("it reads or changes what the person copied"), "xsel": privilege("it reads or changes what the person copied"), "pbcopy": privilege("it changes what the person copied"), "pbpaste": privilege("it shows what the person copied"), "wl-copy": privilege("it changes what the person copied"), "wl-paste": privilege("it shows what the person copied"),
	"air": air, "claude": privilege("it starts another agent"), "codex": privilege("it starts another agent"), "gemini": privilege("it starts another agent"),
	"entr": row{risk: permission.RiskOpaque, why: "it runs other commands"}.program(), "watchexec": row{risk: permission.RiskOpaque, why: "it runs other commands"}.program(), "inotifywait": looks, "logger": privilege("it writes the log of the system"), "wall": privilege("it writes to other users"), "write": privilege("it writes to other users"),
}

// top is only shown once, or for ever; its keys can end processes.
func (r row) top() program {
	r.options += " b i c H S 1 E e="
	return r.program()
}

// asks is a program that only shows something where its first word is one of these and
// no other option follows, and otherwise does more.
func (r row) asks(options string) program {
	known, find := set(options), r.program()
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		args := c.args()
		shows := len(args) > 0 && known[args[0].text] && !args[0].unknown
		for _, w := range args[min(1, len(args)):] {
			shows = shows && !w.mayBeOption()
		}
		if !shows {
			find(c, f)
		}
	}
}

// packages is a manager of the packages or services of the system.
func packages(shown, fetched string) program {
	return subcommands{options: "q,quiet y n V version no-pager user a,all type= state= l,full plain no-legend installed n,lines=", of: verbs{
		shown: careful, fetched: row{risk: permission.RiskPrivileged, why: "it fetches the lists of packages of the system"}.program(),
		"install remove purge upgrade dist-upgrade full-upgrade autoremove autoclean clean reinstall add del delete erase refresh tap untap uninstall link unlink services cleanup edit-sources start stop restart reload enable disable mask unmask daemon-reload kill set-default isolate reboot poweroff edit revert load unload bootstrap bootout build-dep makecache groupinstall": privilege(system),
	}}.program()
}

// oneIsASet shows something without operands, and sets it with one.
func oneIsASet(why string) program {
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		for i, w := range c.args() {
			shows := i == 0 && set("status show list list-sessions")[w.text]
			if !shows && (!strings.HasPrefix(w.text, "-") || w.unknown || strings.Contains(w.text, "F") || strings.Contains(w.text, "file")) {
				f.raise(permission.RiskPrivileged, why)
			}
		}
	}
}

// noWords shows something without any words, and does more with one.
func noWords(why string) program {
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		if len(c.words) > 1 && !helps(c) {
			f.raise(permission.RiskPrivileged, why)
		}
	}
}

func ip(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	for _, w := range c.args() {
		if w.unknown || set("add del delete set change replace flush append up down exec netns vrf -b -batch -force")[w.text] || strings.HasPrefix(w.text, "-b") && w.text != "-br" && w.text != "-brief" {
			f.raise(permission.RiskPrivileged, system)
		}
	}
	if len(c.words) > 1 && !set("a addr address link l route r neigh n rule -br -brief -4 -6 -s -o -j -json -c -d -V -stats -details -oneline")[c.words[1].text] {
		f.raise(permission.RiskPrivileged, system)
	}
}

func service(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	last := c.words[len(c.words)-1]
	if last.unknown || !set("status --status-all --version --help service")[last.text] {
		f.raise(permission.RiskPrivileged, system)
	}
}

func sysctl(c *simple, f *finding) {
	a := (&reader{options: spec("a,all n,values N,names e,ignore r,pattern= b,binary w,write p,load=< system").options(), args: c.args()}).read()
	f.raise(permission.RiskReadOnly, "")
	a.guard(c, f)
	for _, w := range a.operands {
		if strings.Contains(w.text, "=") || w.unknown {
			f.raise(permission.RiskPrivileged, system)
		}
	}
	if a.has("write", "load", "system") {
		f.raise(permission.RiskPrivileged, system)
	}
}

// kill signals processes by their ids.
func kill(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	args := c.args()
	if len(args) > 0 && set("-l -L --list --table")[args[0].text] {
		return
	}
	first := true
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case first && (w.text == "-s" || w.text == "-n" || w.text == "--signal"):
			i++
		case first && w.text == "--":
			first = false
			continue
		case first && strings.HasPrefix(w.text, "-") && !w.unknown:
		case w.unknown || !isDigits(strings.TrimPrefix(w.text, "-")):
			f.raise(permission.RiskPrivileged, "which process "+w.text+" stands for cannot be known before it runs")
		default:
			f.raise(permission.RiskWorkspace, "it ends processes")
			f.effects = append(f.effects, permission.Effect{Kind: permission.Signal, Target: w.text})
		}
		first = false
	}
}

// air run by an agent: what opens doors is for people.
func air(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	if helps(c) || len(c.words) == 1 {
		return
	}
	verb, what := c.words[1].text, ""
	if len(c.words) > 2 {
		what = c.words[2].text
	}
	switch {
	case verb == "version" || verb == "ls" || verb == "inspect" || verb == "tool" && (what == "ls" || what == "show") || verb == "permission" && (what == "explain" || what == "ls" || what == "test") || verb == "doctor" && len(c.words) == 2:
	default:
		f.raise(permission.RiskPrivileged, "air's own commands are for the person")
	}
}
